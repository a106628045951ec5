from .linear_algebra import one_thread as one_thread
from .place import ALONE as ALONE, Workers as Workers
from .processes import RunTrial as RunTrial, open_workers as open_workers
from .threads import each_topic as each_topic
