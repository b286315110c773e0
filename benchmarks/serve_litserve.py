"""LitServe with a model folder, for serve.py: it reads a case as memclf does and calls the same functions.

python serve_litserve.py MODEL PORT BATCH
"""

from __future__ import annotations

import sys
from typing import Any

import litserve as ls

import memclf
from memclf.explain import answer_rows
from memclf.serve.limits import Limits
from memclf.serve.metrics import Metrics
from memclf.serve.model import Model

WAIT = 0.005  # seconds that a batch waits for more cases, as in memclf


class Answers(ls.LitAPI):
    """The folder is given as an attribute: the worker is another process, and loads the model itself."""

    folder = ""

    def setup(self, device: str) -> None:
        self.model = Model(memclf.load(self.folder), Limits(), Metrics())

    def decode_request(self, request):  # no annotation: LitServe would take it for the type of the request
        if self.model.takes_images:
            return self.model.reader.load(self.model.read((request["images"].file.read(), 0))[0])
        return self.model.read(request["cases"][0])[0]

    def batch(self, inputs: list[Any]) -> list[Any]:
        return list(inputs)

    def predict(self, cases: Any) -> Any:
        rows = answer_rows(self.model.clf, self.model.reader.take(cases if isinstance(cases, list) else [cases]))
        return rows if isinstance(cases, list) else rows[0]

    def unbatch(self, output: Any) -> Any:
        return output

    def encode_response(self, output: Any) -> Any:
        return {"answers": [output.as_dict()]}


def main() -> None:
    folder, port, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    api = Answers(max_batch_size=batch, batch_timeout=WAIT if batch > 1 else 0.0, api_path="/v1/predict")
    api.folder = folder
    server = ls.LitServer(api, accelerator="cpu", workers_per_device=1, timeout=60, healthcheck_path="/healthz")
    server.run(host="127.0.0.1", port=port, generate_client_file=False, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
