import json
import pathlib

wanted = json.loads(pathlib.Path("/tests/expected.json").read_text())["sum"]
try:
    found = json.loads(pathlib.Path("/workspace/result.json").read_text())["sum"]
except (OSError, ValueError, KeyError, TypeError):
    found = None
reward = 1.0 if found == wanted else 0.25 if isinstance(found, int) else 0.0
pathlib.Path("/logs/verifier/details.json").write_text(json.dumps({"sum": {"score": reward}}))
pathlib.Path("/logs/verifier/reward.json").write_text(json.dumps({"reward": reward}))
