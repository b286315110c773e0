"""The page Numbers: a fit through the page, honest numbers, and what can be taken away."""

import io
import shlex
import zipfile

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sklearn.datasets import make_blobs

import memclf
from memclf._progress import listen, relay, tell, track
from memclf.persist import save
from memclf.studio import Project, create_studio
from memclf.studio.fitting import Steps, list_models

HOST = "http://localhost"


@pytest.fixture
def table(tmp_path):
    X, blob = make_blobs(30, centers=2, random_state=0)
    frame = pd.DataFrame(X, columns=["width", "<i>height</i>"]).assign(label=np.array(["a", "<b>b</b>"])[blob])
    frame.to_csv(tmp_path / "leaves.csv", index=False)
    project = Project(tmp_path / "a project")
    project.set_data(tmp_path / "leaves.csv")
    return project


def test_a_fit_through_the_page_ends_with_numbers(table):
    with TestClient(create_studio(table), base_url=HOST, headers={"Origin": HOST}) as client:
        assert "Fit a memory classifier" in client.get("/numbers").text
        client.post("/numbers/fit", data={"estimator": "logistic", "unknown_rate": "10"})
        jobs = client.app.state.studio.jobs
        jobs.last("fit").thread.join()
        assert jobs.last("fit").state == "done", jobs.last("fit").error
        shown = client.get("/job/0", params={"go": "/numbers"})
        assert shown.headers["x-go"] == "/numbers"
        page = client.get("/numbers").text
        about = table.about_model()
        memory = next(row for row in about["contenders"] if row["contender"] == "memory")
        for part in (about["advice"], "stage 1 alone", "plain model", f"{100 * memory['accuracy']['value']:.1f}"):
            assert part in page
        assert len(about["labels"]) == 24
        assert shlex.quote(str(table.model.resolve())) in page.replace("&#39;", "'")
        assert client.get("/numbers/report.html").headers["content-disposition"].startswith("attachment")
        assert client.get("/numbers/description.yaml").status_code == 404
        assert client.get("/edit/memory/0").status_code == 200
        assert client.get("/edit/case/0").status_code == 200


def test_the_export_is_a_model_that_loads(client, project, tmp_path):
    session = client.app.state.studio.session
    project.model.with_suffix(".yaml").write_text("measurements: []\n")
    sent = client.get("/numbers/model.zip")
    assert sent.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(sent.content)) as packed:
        packed.extractall(tmp_path / "out")
    assert (tmp_path / "out" / "description.yaml").exists()
    held, answers = session.held_out()
    found = memclf.load(tmp_path / "out" / f"model-{project.model.name}")
    np.testing.assert_array_equal(found.predict(held.cases), answers.labels)


def test_an_earlier_model_can_be_used_again(client, project):
    first = project.model
    other = save(client.app.state.studio.session.classifier, project.new_model())
    project.log.append("model", {"model": other.name})
    assert [each["name"] for each in list_models(project)] == [other.name, first.name]
    assert "Use this one" in client.get("/numbers").text
    client.post("/numbers/use", data={"model": first.name})
    assert project.model == first
    refused = client.post("/numbers/use", data={"model": "../elsewhere"})
    assert (refused.status_code, project.model) == (422, first)


def test_progress_of_a_fit_says_which_step_it_is():
    heard = []
    with listen(lambda *said: heard.append(said)), relay(Steps(99)):
        tell("describing", 1, 4)
        for _ in track(range(2), total=2, what="held-out folds", verbose=None):
            tell("describing", 1, 4)
    assert heard == [
        ("step 1 of 3: learning from 99 cases: describing", 1, 4),
        ("step 2 of 3: comparing with a plain model, part 1 of 2", 0, 2),
        ("step 2 of 3: comparing with a plain model, part 1 of 2 (describing)", 0, 2),
        ("step 2 of 3: comparing with a plain model, part 2 of 2", 1, 2),
        ("step 2 of 3: comparing with a plain model, part 2 of 2 (describing)", 1, 2),
    ]
