"""The application: what is ready before the first request."""

import warnings

from fastapi.testclient import TestClient

from memclf.studio import create_studio


def test_create_studio__filters_of_warnings_undone_by_another_thread__pages_answer(project, monkeypatch):
    """FastAPI builds routes under a filter, which is one for all threads of the process."""
    app = create_studio(project)
    monkeypatch.setattr(warnings, "simplefilter", lambda *_, **__: None)
    with warnings.catch_warnings():
        warnings.filters.insert(0, ("error", None, Warning, None, 0))
        client = TestClient(app, base_url="http://localhost")
        assert [client.get(page).status_code for page in ("/data", "/numbers", "/nothing-here")] == [200, 200, 404]
