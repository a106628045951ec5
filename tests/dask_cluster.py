"""A Dask cluster on loopback: a scheduler and workers, each a process of its own."""

import json
import os
import subprocess
import sys

from waiting import wait_until


class Cluster:
    """A scheduler, and as many workers as are asked for."""

    def __init__(self, folder, **settings):
        self._folder = folder
        self._environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder), **settings}
        said = folder / "scheduler.json"
        self.workers = []
        place = ("--host", "127.0.0.1", "--port", "0")
        self.scheduler = self._start("scheduler", *place, "--scheduler-file", str(said))
        wait_until(lambda: said.exists() and said.read_text().endswith("}"))
        self.address = json.loads(said.read_text())["address"].replace("tcp", "dask")

    def _start(self, *command):
        log = self._folder / "log.txt"
        with log.open("a") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *command, "--no-dashboard"],
                cwd=self._folder,
                env=self._environment,
                stdout=output,
                stderr=output,
            )

    def have_workers(self, count, *, threads=1):
        """Start what is missing of some workers."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        address = self.address.replace("dask:", "tcp:")
        alone = ("--nthreads", str(threads), "--no-nanny", "--memory-limit", "0")
        while len(self.workers) < count:
            self.workers.append(self._start("worker", address, *alone))

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
