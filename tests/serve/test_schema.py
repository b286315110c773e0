"""The service keeps what its OpenAPI document promises, whatever is sent (schemathesis)."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from memclf.serve import create_app

TOKEN = {"Authorization": "Bearer correct-horse-battery-staple"}
WORK, PICTURE = ("/v1/predict", "/v1/explain"), "/v1/memories/{memory}/picture"
PATHS = (*WORK, "/v1/memories", PICTURE, "/healthz", "/readyz", "/metrics")
ASKED = [*(("table", path) for path in PATHS), ("images", "/v1/predict"), ("images", PICTURE)]
VALID = [(*each, GenerationMode.POSITIVE) for each in ASKED]
INVALID = [(*each, GenerationMode.NEGATIVE) for each in ASKED if each[1] in (*WORK, PICTURE)]  # others take nothing
load_all_checks()
# A wrong case fails alone, beside others that are answered; a gap may be more than the model bears; and a document
# cannot say which bytes are an image. So what is valid may be refused, and what is not, answered in part.
NOT_PROMISED = CHECKS.get_by_names(["negative_data_rejection", "positive_data_acceptance"])


@pytest.fixture(scope="module")
def schemas(table, images):
    def load(clf):
        app = create_app(clf, token=TOKEN["Authorization"].split()[1])
        return schemathesis.openapi.from_asgi("/openapi.json", app, headers=TOKEN)

    return {"table": load(table[0]), "images": load(images[0])}


@pytest.mark.parametrize(("kind", "path", "mode"), [*VALID, *INVALID])
def test_requests__made_from_the_document__are_answered_as_it_promises(schemas, kind, path, mode):
    operation = schemas[kind][path]["POST" if path in WORK else "GET"]

    @settings(
        max_examples=12, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        case.call_and_validate(headers=TOKEN, excluded_checks=NOT_PROMISED)

    check()
