from .place import ALONE as ALONE, Workers as Workers
from .topics import each_topic as each_topic
from .trials import RunTrial as RunTrial, open_workers as open_workers
