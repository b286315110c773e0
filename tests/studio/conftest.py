"""Projects with small pictures, the studio around them, and a browser that looks at it."""

import shutil
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
import uvicorn
from fastapi.testclient import TestClient
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from memclf import MemoryClassifier
from memclf.own.defaults import make_estimator, make_similarity
from memclf.persist import save
from memclf.similarity import RankSimilarity
from memclf.studio import Project, create_studio
from memclf.studio.project import MODEL, write_json
from memclf.vision.features import ColourOf, Measurements
from memclf.vision.files import encode_png

HOST = "http://localhost"


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """A folder with 20 red and 20 blue squares on grey, 48 pixels wide, and a few green ones that are odd."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for name, colour in (("red", (200, 40, 40)), ("blue", (40, 60, 200))):
        (folder / name).mkdir()
        for number in range(20):
            shown = (40, 190, 60) if number == 19 else colour
            image = rng.integers(110, 150, (48, 48, 3), dtype=np.uint8)
            top, left = rng.integers(4, 14, 2)
            image[top : top + 26, left : left + 26] = np.clip(shown + rng.normal(0, 12, 3), 0, 255)
            (folder / name / f"{name}{number:02d}.png").write_bytes(encode_png(image))
    return folder


@pytest.fixture(scope="session")
def fitted(pictures, tmp_path_factory):
    """The folder of a project with a model that was fitted on the training cases of `pictures`."""
    project = Project(tmp_path_factory.mktemp("fitted") / "project")
    project.set_data(pictures)
    data = project.training()
    features = Measurements([ColourOf("foreground")])
    clf = MemoryClassifier(
        RankSimilarity(features=features),
        make_pipeline(features, LogisticRegression(max_iter=1000)),
        n_memories=5,
        unknown_rate=0.1,
        random_state=0,
    ).fit(data.cases, data.target)
    folder = save(clf, project.new_model())
    rows, _ = project.split()
    keys = [project.data.keys[row] for row in rows]
    write_json(folder.with_suffix(".json"), {"labels": dict(zip(keys, data.target.tolist(), strict=True))})
    project.log.append(MODEL, {"model": folder.name})
    project.close()
    return project.folder


@pytest.fixture
def project(fitted, tmp_path):
    """A copy of the fitted project, to be changed."""
    shutil.copytree(fitted, tmp_path / "project")
    found = Project(tmp_path / "project")
    yield found
    found.close()


@pytest.fixture
def client(project):
    """Asks the studio inside this process, as a page of the studio would."""
    with TestClient(create_studio(project), base_url=HOST, headers={"Origin": HOST}) as client:
        yield client


@pytest.fixture
def open_studio():
    """Asks a studio on any project, as `client` does on the fitted one."""
    with ExitStack() as open_ones:

        def start(project):
            return open_ones.enter_context(TestClient(create_studio(project), base_url=HOST, headers={"Origin": HOST}))

        yield start


class Live:
    """A studio that listens on a port of this machine, in a thread."""

    def __init__(self, project):
        self.app = create_studio(project)
        config = uvicorn.Config(self.app, port=0, log_level="error", ws="none", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.address = f"http://localhost:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self):
        self._server.should_exit = True
        self._thread.join(10)


@pytest.fixture
def live(project):
    """The studio on a port, for a browser."""
    found = Live(project)
    yield found
    found.stop()


@pytest.fixture
def tab(chromium, live):
    """A browser's tab on the studio; the test fails if a script fails or anything is asked of another machine."""
    context = chromium.new_context(base_url=live.address, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    failures, foreign = [], []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda said: failures.append(said.text) if "Content Security Policy" in said.text else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((live.address, "blob:", "data:")) else foreign.append(asked.url),
    )
    page.set_default_timeout(20_000)
    yield page
    context.close()
    assert not failures
    assert not foreign


@pytest.fixture(scope="session")
def fitted_table(tmp_path_factory):
    """The folder of a project about a table: hostile names of a class and a column, and two wrong labels."""
    folder = tmp_path_factory.mktemp("table")
    rng, lines = np.random.default_rng(0), ["size,<b>colour</b>,kind,class"]
    for number in range(60):
        kind = number % 2
        label = ("<img src=x onerror=alert(1)>", "plain")[kind if number not in (6, 9) else 1 - kind]
        size, colour = rng.normal(5 * kind, 0.3, 2)
        lines.append(f"{size:.3f},{colour:.3f},{'ab'[kind]},{label}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    project = Project(folder / "project")
    project.set_data(folder / "rows.csv", "class")
    data = project.training()
    similarity, estimator = make_similarity("table"), make_estimator("table", "logistic", 0)
    clf = MemoryClassifier(similarity, estimator, n_memories=2, unknown_rate=0.1, random_state=0)
    model = save(clf.fit(data.cases, data.target), project.new_model())
    keys = [project.data.keys[row] for row in project.split()[0]]
    write_json(model.with_suffix(".json"), {"labels": dict(zip(keys, data.target.tolist(), strict=True))})
    project.log.append(MODEL, {"model": model.name})
    project.close()
    return project.folder


@pytest.fixture
def table_client(fitted_table, tmp_path):
    """Asks the studio about a copy of the project about a table."""
    shutil.copytree(fitted_table, tmp_path / "table")
    project = Project(tmp_path / "table")
    with TestClient(create_studio(project), base_url=HOST, headers={"Origin": HOST}) as client:
        yield client
