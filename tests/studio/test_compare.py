"""The page Compare: questions, answers, weights and contradictions."""

import numpy as np
import pandas as pd
import pytest

from memclf.similarity import JudgedSimilarity
from memclf.studio import Project
from memclf.studio.comparing import ENOUGH, Comparer, describe_cases
from memclf.studio.description import make_description
from memclf.studio.fitting import fit_model
from memclf.studio.judging import (
    JUDGEMENT,
    add_judgement,
    add_skip,
    find_contradictions,
    list_triplets,
    undo_answer,
)
from memclf.studio.measuring import choose, list_choices

ASKED = "[...document.querySelectorAll('#compare form input')].slice(0, 3).map((each) => each.value).join()"
HOSTILE = '"><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of which the expert looks at the height alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)).round(3), columns=["height", "width", HOSTILE])
    frame["label"] = np.where(frame["height"] > 0, "tall", HOSTILE)
    path = tmp_path_factory.mktemp("table") / "plants.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def plants(table, tmp_path):
    project = Project(tmp_path / "plants")
    project.set_data(table)
    describe_cases(project.folder)
    yield project
    project.close()


@pytest.fixture
def measured(project):
    """The pictures, of which the foreground's colour is measured."""
    choose(project, [first_choice(project, "colour")])
    describe_cases(project.folder)
    return project


def first_choice(project, word):
    return next(each.key for each in list_choices(project)["foreground"] if each.word == word)


def judge_by_height(project, a, one, other):
    height = project.data.cases["height"]
    apart = [abs(height[project.data.rows[a]] - height[project.data.rows[each]]) for each in (one, other)]
    return (a, one, other) if apart[0] < apart[1] else (a, other, one)


def test_comparer__answers_by_one_column__give_it_the_weight_until_it_is_enough(plants):
    comparer = Comparer(plants)
    comparer.work.wake()
    for _ in range(ENOUGH):
        if not comparer.ask():
            assert comparer.work.wait(60)
        (question, replaces), *_ = comparer.ask()
        assert not replaces
        add_judgement(plants, *judge_by_height(plants, *question))
        comparer.answered(question)
    assert comparer.work.wait(60)
    learned = comparer.learned
    assert learned.answers == ENOUGH
    assert learned.weights[0][0].endswith("height")
    assert learned.weights[0][1] > 2 * learned.weights[1][1]
    assert learned.consistency.held_out.interval[0] > 0.5
    assert learned.enough
    assert "This is enough" in learned.advice
    comparer.work.close()


def test_comparer__skipped_question__is_not_asked_again(plants):
    comparer = Comparer(plants)
    comparer.work.wake()
    asked = []
    for _ in range(14):
        assert comparer.work.wait(60)
        question = comparer.ask()[0][0]
        asked.append((question[0], frozenset(question[1:])))
        add_skip(plants, *question)
        comparer.answered(question)
    assert len(set(asked)) == len(asked)
    assert comparer.learned.answers == 0
    comparer.work.close()


def test_judgements__both_ways__are_a_contradiction_until_one_replaces_them(plants):
    add_judgement(plants, "1", "2", "3")
    add_judgement(plants, "1", "4", "3")
    assert find_contradictions(plants) == []
    add_judgement(plants, "1", "3", "2")
    (found,) = find_contradictions(plants)
    assert (found.case, found.one, found.other, found.for_one, found.for_other) == ("1", "2", "3", 1, 1)
    add_judgement(plants, "1", "3", "2", replaces=found.events)
    assert find_contradictions(plants) == []
    assert list_triplets(plants) == [("1", "4", "3"), ("1", "3", "2")]
    assert undo_answer(plants) == ("1", "3", "2")
    assert list_triplets(plants) == [("1", "4", "3")]


def test_compare__page__asks_shows_the_contradiction_and_looks_again(plants, open_studio):
    client = open_studio(plants)
    client.get("/compare")
    work = client.app.state.studio.closing[1].__self__
    form = {"a": "1", "left": "2", "right": "3"}
    for said in ("left", "right"):
        assert client.post("/compare/answer", data={**form, "said": said}).status_code == 200
    assert work.wait(60)
    page = client.get("/compare").text
    assert "Answered both ways" in page
    assert "2 of 50" in " ".join(page.split()) or "of 50" in page
    assert "<img src=x" not in page
    again = client.post("/compare/again", data={"a": "1", "one": "2", "other": "3"}).text
    numbers = ",".join(str(each.number) for each in plants.log.events(JUDGEMENT))
    assert f'name="replaces" value="{numbers}"' in again
    client.post("/compare/answer", data={**form, "said": "left", "replaces": numbers})
    assert list_triplets(plants) == [("1", "2", "3")]
    assert 'name="a" value="1"' in client.post("/compare/undo").text
    assert list_triplets(plants) == []


@pytest.mark.parametrize("wrong", [{"a": "999"}, {"left": "3"}, {"right": HOSTILE}])
def test_compare__answer_about_other_cases__is_refused(plants, open_studio, wrong):
    form = {"a": "1", "left": "2", "right": "3", "said": "left", **wrong}
    assert open_studio(plants).post("/compare/answer", data=form).status_code == 422
    assert plants.log.events(JUDGEMENT) == []


def test_compare__without_data_or_with_another_description__says_what_to_do(tmp_path, measured, open_studio):
    assert "There are no cases yet" in open_studio(Project(tmp_path / "new")).get("/compare").text
    client = open_studio(measured)
    assert "Measure the cases" not in client.get("/compare").text
    choose(measured, [first_choice(measured, "shape")])
    assert "Measure the cases" in client.get("/compare").text


def test_make_description__judgements__are_a_similarity_over_the_chosen_measurements(measured):
    keys = measured.data.keys
    add_judgement(measured, keys[0], keys[1], keys[20])
    features, similarity = make_description(measured)
    assert features.names[0] == "foreground_lightness_low"
    assert isinstance(similarity, JudgedSimilarity)
    assert similarity.measurements_ == list(features.names)
    assert similarity.judgements_[0]["triplets"].tolist() == [[0, 1, 2]]


@pytest.mark.slow  # fits 84 times
def test_fit_model__judged_pictures__are_compared_by_the_judgements(measured):
    keys = measured.data.keys
    for k in range(4):
        add_judgement(measured, keys[k], keys[k + 4], keys[20 + k])
    found = fit_model(measured.folder, "logistic", 0.1)
    from memclf import load

    clf = load(measured.models / found["model"])
    assert isinstance(clf.similarity_, JudgedSimilarity)
    assert clf.similarity_.judgements_


def test_browser__answers_by_keys__are_in_the_log_and_the_next_question_comes(tab, measured):
    tab.goto("/compare")
    tab.locator(".choice").first.wait_for()

    def asked():
        return tuple(tab.locator(f"input[name={name}]").first.input_value() for name in ("a", "left", "right"))

    for key, place in (("ArrowLeft", 1), ("ArrowRight", 2), ("ArrowDown", 0)):
        before = asked()
        tab.keyboard.press(key)
        tab.wait_for_function(f"before => {ASKED} !== before", arg=",".join(before))
        if place:
            assert measured.log.last(JUDGEMENT).about["more_like"] == before[place]
    assert len(list_triplets(measured)) == 2
    tab.get_by_role("img", name="2 of 50 answers").wait_for()
    tab.keyboard.press("z")
    tab.wait_for_function(f"before => {ASKED} === before", arg=",".join(before))
