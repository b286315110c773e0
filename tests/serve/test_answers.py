"""What the service answers is what the classifier answers."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from memclf.explain import answer_rows
from memclf.vision import ImageCollection
from serving import png, records, send_images


def post(client, cases, path="/v1/predict"):
    return client.post(path, json={"cases": cases})


def test_predict__table__answers_equal_those_of_the_classifier(serve, table):
    clf, X = table
    found = post(serve(clf), records(X)).json()["answers"]
    assert [each["answer"] for each in found] == clf.predict(X).tolist()
    for got, row in zip(found, answer_rows(clf, X), strict=True):
        assert {**got, "probability": None, "similarity": None} == {
            **row.as_dict(), "probability": None, "similarity": None
        }  # fmt: skip
        assert (got["probability"], got["similarity"]) == pytest.approx((row.probability, row.similarity))


def test_predict__unlike_everything__is_unknown_with_a_reason(serve, rows):
    clf, _ = rows
    (found,) = post(serve(clf), [[900, -900]]).json()["answers"]
    assert found["answer"] == clf.unknown_label_
    assert found["known"] is False
    assert found["probability"] is None
    assert "below its threshold" in found["reason"]


def test_predict__rows_of_numbers_and_texts__are_lists(serve, rows, texts):
    for clf, X in (rows, texts):
        cases = X if isinstance(X, list) else X.tolist()
        assert [each["answer"] for each in post(serve(clf), cases).json()["answers"]] == clf.predict(X).tolist()


def test_predict__images__answers_equal_those_of_the_classifier(serve, images):
    clf, X = images
    shown = send_images(serve(clf, batch_size=4), [png(image) for image in X[:10]])
    assert [each["answer"] for each in shown.json()["answers"]] == clf.predict(ImageCollection(X[:10])).tolist()


def test_predict__fraction_among_whole_numbers__does_not_depend_on_the_batch(serve, table):
    clf, X = table
    case = {"age": 41.5, "weight": 70, "smoker": "no"}
    found = post(serve(clf), [*records(X[:3]), case]).json()["answers"]
    alone = pd.DataFrame([case])
    assert [each["answer"] for each in found] == [*clf.predict(X[:3]), *clf.predict(alone)]


def test_explain__table_and_images__says_what_the_classifier_says(serve, table, images):
    clf, X = table
    found = post(serve(clf), records(X[:3]), "/v1/explain").json()["explanations"]
    assert [each["sentence"] for each in found] == [each.sentence for each in clf.explain(X[:3])]
    assert [value["name"] for value in found[0]["values"]] == list(X.columns)
    clf, X = images
    (found,) = send_images(serve(clf), [png(X[0])], "/v1/explain").json()["explanations"]
    assert found["sentence"] == clf.explain(ImageCollection(X[:1]))[0].sentence


def test_memories__table_and_images__are_listed_with_their_values(serve, table, images):
    clf, X = table
    found = serve(clf).get("/v1/memories").json()["memories"]
    assert [each["row"] for each in found] == clf.memory_indices_.tolist()
    assert [each["case"] for each in found] == records(X.iloc[clf.memory_indices_])
    found = serve(images[0]).get("/v1/memories").json()["memories"]
    assert [each["cases"] for each in found] == images[0].cluster_counts_.sum(axis=1).tolist()
    assert found[0]["case"] is None


def test_picture__of_a_memory__shows_its_pixels(serve, images, table):
    clf, X = images
    client = serve(clf)
    shown = client.get("/v1/memories/1/picture")
    assert shown.headers["content-type"] == "image/png"
    np.testing.assert_array_equal(Image.open(io.BytesIO(shown.content)), X[clf.memory_indices_[1]])
    for number in (len(clf.memory_indices_), "-1", "x", "9" * 5000):
        assert client.get(f"/v1/memories/{number}/picture").status_code == 404
    assert "no images" in serve(table[0]).get("/v1/memories/0/picture").json()["detail"]


def test_cases__some_of_a_request_are_bad__fail_alone(serve, table):
    clf, X = table
    good = records(X[:2])
    bad = [{"age": 1}, {**good[0], "weight": "heavy"}, {**good[0], "weight": None}, {**good[0], "smoker": 1}, 7]
    shown = post(serve(clf), [good[0], *bad, good[1]])
    first, *failed, last = shown.json()["answers"]
    assert shown.status_code == 200
    assert [first["answer"], last["answer"]] == clf.predict(X[:2]).tolist()
    details = [each["error"]["detail"] for each in failed]
    assert details[0].endswith("missing columns (2): 'weight', 'smoker'")
    assert details[1] == "column 'weight' must hold a number, as in training; got 'heavy'"
    assert "cannot answer this case" in details[2]  # the classifier bears no gap there, and says so
    assert "NaN" in details[2]
    assert details[3] == "column 'smoker' must hold a text, as in training; got 1"
    assert "must be an object" in details[4]


def test_cases__none_can_be_answered__the_request_fails(serve, table):
    clf, X = table
    client = serve(clf)
    alone = post(client, [{**records(X[:1])[0], "shoe size": 43}])
    assert alone.status_code == 422
    assert alone.headers["content-type"] == "application/problem+json"
    assert alone.json()["detail"].endswith("new column: 'shoe size'")
    both = post(client, [1, 2])
    assert both.status_code == 422
    assert [each["case"] for each in both.json()["errors"]] == [0, 1]


def test_images__broken_and_hostile__fail_alone_each_with_its_status(serve, images):
    clf, X = images
    good, bomb = png(X[0]), png(np.zeros((2000, 3000), dtype=np.uint8))  # 6 million pixels in a few thousand bytes
    cut = png(X[1])[:-60]
    shown = send_images(serve(clf, pixels=5_000_000), [good, bomb, cut, b"no image", b"", b"%!PS-Adobe-3.0 EPSF-3.0"])
    first, *failed = shown.json()["answers"]
    assert len(bomb) < 10_000
    assert first["answer"] == clf.predict(ImageCollection(X[:1]))[0]
    assert [each["error"]["status"] for each in failed] == [413, 422, 415, 415, 415]
    assert "3000 x 2000 pixels, more than 5,000,000" in failed[0]["error"]["detail"]
    assert send_images(serve(clf, pixels=5_000_000), [bomb, bomb]).status_code == 413


def test_images__of_a_model_of_one_size__others_are_refused(serve, images):
    clf, X = images
    fitted = type(clf)(**clf.get_params(deep=False)).fit(X, np.repeat(["a", "b"], 15))
    client = serve(fitted)
    assert send_images(client, [png(X[3])]).json()["answers"][0]["answer"] == fitted.predict(X[3:4])[0]
    assert "takes 48 x 48 only" in send_images(client, [png(X[0][:20])]).json()["detail"]
