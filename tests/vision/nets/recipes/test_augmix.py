import numpy as np
import pytest
import torch
from scipy import stats

from memclf.vision.nets.recipes import AugMix
from memclf.vision.nets.recipes import augmix as module
from memclf.vision.nets.recipes.augmix import jensen_shannon, mix
from memclf.vision.nets.recipes.operations import EXCLUDED, OPERATIONS, Operation

SURE = 1000.0  # a logit that makes a prediction certain


def test_the_views_are_the_image_and_two_different_mixtures(photograph):
    clean, one, two = AugMix().views(photograph, np.random.default_rng(0))
    assert clean is photograph
    for mixture in (one, two):
        assert mixture.dtype == np.float32
        assert mixture.shape == photograph.shape
        assert mixture.min() >= 0
        assert mixture.max() <= 255.001
    assert np.abs(one - two).max() > 1
    assert np.abs(one - clean).max() > 1


def test_mixing_with_strength_zero_returns_the_image(photograph):
    chains = [255 - photograph] * 3
    np.testing.assert_array_equal(mix(photograph, chains, np.full(3, 1 / 3), 0.0), photograph)


def test_mixing_is_the_weighted_sum(photograph):
    g = np.random.default_rng(1)
    chains = list(g.integers(0, 256, (3, *photograph.shape), dtype=np.uint8))
    weights, strength = g.dirichlet([1, 1, 1]), 0.3
    expected = 0.7 * photograph + 0.3 * np.tensordot(weights, np.stack(chains).astype(float), 1)
    np.testing.assert_allclose(mix(photograph, chains, weights, strength), expected, atol=1e-3)


def test_weights_sum_to_one_so_that_idle_chains_return_the_image(photograph, monkeypatch):
    monkeypatch.setitem(OPERATIONS, "rotate", Operation("rotate", lambda image, level: image))
    views = AugMix(operations=("rotate",), width=5).views(photograph, np.random.default_rng(0))
    for view in views:
        np.testing.assert_allclose(view, photograph, atol=1e-3)


def test_the_mixing_weights_follow_dirichlet_and_beta(photograph, monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "mix", lambda image, chains, weights, strength: drawn.append((*weights, strength)))
    rng = np.random.default_rng(0)
    for _ in range(300):
        AugMix(alpha=2.0, depth=1, operations=("posterize",)).views(photograph[:2, :2], rng)
    values = np.array(drawn)
    np.testing.assert_allclose(values[:, :3].sum(axis=1), 1)
    assert stats.kstest(values[:, 0], stats.beta(2, 4).cdf).pvalue > 0.01  # a coordinate of Dirichlet(2, 2, 2)
    assert stats.kstest(values[:, 3], stats.beta(2, 2).cdf).pvalue > 0.01


@pytest.mark.parametrize("severity", [1, 3])
def test_augmix__chains__apply_one_to_three_operations_up_to_the_severity(severity, photograph, monkeypatch):
    used = []

    def recording(operation):
        def apply(image, level):
            used.append((operation.name, level))
            return image

        return Operation(operation.name, apply, operation.signed)

    for name, operation in list(OPERATIONS.items()):
        monkeypatch.setitem(OPERATIONS, name, recording(operation))
    rng, lengths = np.random.default_rng(0), []
    for _ in range(600):
        before = len(used)
        AugMix(severity=severity)._chain(photograph, rng)
        lengths.append(len(used) - before)
    assert stats.chisquare(np.bincount(lengths, minlength=4)[1:]).pvalue > 0.01
    names, levels = [name for name, _ in used], np.array([level for _, level in used])
    assert set(names) == set(OPERATIONS)
    assert not set(names) & set(EXCLUDED)
    assert stats.chisquare(np.unique(names, return_counts=True)[1]).pvalue > 0.01
    assert stats.kstest(np.abs(levels), stats.uniform(0.1, severity - 0.1).cdf).pvalue > 0.01
    signed = np.array([OPERATIONS[name].signed for name in names])
    assert (levels[~signed] > 0).all()
    assert 0.45 < (levels[signed] < 0).mean() < 0.55


def test_a_fixed_depth_is_kept(photograph, monkeypatch):
    calls = []
    monkeypatch.setitem(
        OPERATIONS, "equalize", Operation("equalize", lambda image, level: calls.append(level) or image)
    )
    AugMix(depth=4, width=2, operations=["equalize"]).views(photograph, np.random.default_rng(0))
    assert len(calls) == 2 * 2 * 4


def test_divergence_of_equal_predictions_is_zero():
    logits = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(jensen_shannon([logits] * 3), torch.zeros(5), atol=1e-6, rtol=0)
    certain = torch.tensor([[SURE, 0.0, 0.0]])
    assert jensen_shannon([certain] * 3).item() == 0


def test_divergence_of_three_certain_predictions_that_differ_is_log_3():
    logits = [torch.tensor([[SURE if k == j else 0.0 for j in range(3)]]) for k in range(3)]
    assert jensen_shannon(logits).item() == pytest.approx(np.log(3), rel=1e-6)


def test_divergence_is_the_mean_of_the_kullback_leibler_divergences_from_the_average():
    logits = 4 * torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(1))  # far below 1 % for some classes
    p = torch.softmax(logits, dim=2).numpy()
    expected = np.mean([[stats.entropy(p[v, i], p[:, i].mean(axis=0)) for i in range(6)] for v in range(3)], axis=0)
    np.testing.assert_allclose(jensen_shannon(list(logits)).numpy(), expected, rtol=1e-4)


def test_divergence_has_finite_gradients_for_certain_predictions():
    logits = torch.tensor([[[SURE, 0.0]], [[0.0, SURE]], [[0.0, 0.0]]], requires_grad=True)
    jensen_shannon(list(logits)).sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_the_loss_is_cross_entropy_of_the_clean_view_plus_twelve_divergences(network, batch, criterion, rng):
    network.eval()  # batch norm with fixed statistics, so that views do not depend on one another
    images, targets = batch
    views = [images, images.flip(3) * 0.8, images * 0.5]
    logits = [network(view) for view in views]
    expected = criterion(logits[0], targets) + 12 * jensen_shannon(logits)
    torch.testing.assert_close(AugMix().loss(network, views, targets, criterion, rng), expected)


def test_a_batch_without_its_views_is_refused(network, batch, criterion, rng):
    images, targets = batch
    with pytest.raises(ValueError, match=r"augmix needs 3 views of every image .*, got 1"):
        AugMix().loss(network, [images], targets, criterion, rng)


@pytest.mark.parametrize("image", [np.zeros((4, 4, 3), np.float32), np.zeros((4, 4), np.uint8)])
def test_only_colour_images_of_bytes_are_taken(image):
    with pytest.raises(ValueError, match=r"augmix needs uint8 images \(H, W, 3\), got"):
        AugMix().views(image, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"severity": 0}, "AugMix: severity must be between 0.1 and 10, got 0"),
        ({"width": 0}, "width must be at least 1"),
        ({"depth": 0}, "depth must be None or at least 1"),
        ({"alpha": 0.0}, "alpha must be positive"),
        ({"consistency": 0.0}, "consistency must be positive"),
        ({"operations": ()}, "operations must be at least one name"),
        ({"operations": ["brightness"]}, "leaves out 'brightness' because it overlaps with the ImageNet-C"),
        ({"operations": ["shear"]}, "no operation 'shear'; did you mean 'shear_"),
        ({"operations": ["zzz"]}, "no operation 'zzz'. Known: autocontrast, "),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        AugMix(**settings)
