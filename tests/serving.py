"""What tests of the service send, and two classifiers for its models."""

import io
import threading

from PIL import Image
from sklearn.naive_bayes import GaussianNB


class Patient(GaussianNB):
    """A classifier that answers when it may, as a slow model would: a test opens the door."""

    door = threading.Event()

    def predict_proba(self, X):
        assert self.door.wait(30)
        return super().predict_proba(X)


class DenseNaiveBayes(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X.toarray(), y, sample_weight)

    def predict_proba(self, X):
        return super().predict_proba(X.toarray())


def records(X):
    return X.to_dict("records")


def png(image, kind="PNG", **options):
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, kind, **options)
    return stream.getvalue()


def send_images(client, contents, path="/v1/predict"):
    return client.post(path, files=[("images", (f"{i}.png", content)) for i, content in enumerate(contents)])
