"""Mixing of cases and labels: CutMix, Manifold Mixup and what they share."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch import nn

from memclf.vision.nets.recipes import CutMix, ManifoldMixup
from memclf.vision.nets.recipes.cutmix import draw_box, paste
from memclf.vision.nets.recipes.mixing import Mixing, beta
from memclf.vision.nets.recipes.views import change_output, draw_layer, logits_with_change


def hooks_of(network):
    return [module for module in network.modules() if module._forward_hooks]


class Linear(nn.Module):
    """An affine network with stages, so that mixing at any layer is mixing of the outputs."""

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.fc(x.mean(dim=(2, 3)))


@pytest.mark.parametrize("alpha", [0.2, 1.0, 2.0])
def test_the_weight_follows_a_beta_distribution(alpha, rng):
    weights = [Mixing.draw(4, alpha, rng).weight for _ in range(600)]
    assert stats.kstest(weights, stats.beta(alpha, alpha).cdf).pvalue > 0.01
    assert stats.kstest([beta(2, 5, rng) for _ in range(600)], stats.beta(2, 5).cdf).pvalue > 0.01


def test_the_partners_are_a_permutation_and_every_partner_is_equally_likely(rng):
    partners = np.array([Mixing.draw(5, 1.0, rng).partner.tolist() for _ in range(500)])
    assert (np.sort(partners, axis=1) == np.arange(5)).all()
    assert stats.chisquare(np.bincount(partners[:, 0])).pvalue > 0.01


def test_mixing_loss__class_weights_and_smoothing__mixes_labels_by_the_same_weight(rng):
    logits, targets = torch.randn(6, 3, generator=rng), torch.tensor([0, 1, 2, 0, 1, 2])
    weight = torch.tensor([0.2, 1.0, 3.0])

    def criterion(logits, targets):
        return F.cross_entropy(logits, targets, weight=weight, label_smoothing=0.1, reduction="none")

    mixing = Mixing.draw(6, 1.0, rng)
    soft = mixing.blend(F.one_hot(targets, 3).float())
    torch.testing.assert_close(soft.sum(dim=1), torch.ones(6))
    torch.testing.assert_close(mixing.loss(logits, targets, criterion), criterion(logits, soft))
    torch.testing.assert_close(mixing.loss(logits, F.one_hot(targets, 3).float(), criterion), criterion(logits, soft))


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**31))
def test_the_box_has_exactly_the_area_that_the_label_loses(height, width, weight, seed):
    rng = torch.Generator().manual_seed(seed)
    images = torch.tensor([0.25, 0.75])[:, None, None, None].expand(2, 3, height, width)
    mixing = Mixing(weight, torch.tensor([1, 0]))
    top, bottom, left, right = box = draw_box(height, width, weight, rng)
    pasted, exact = paste(images, mixing, box)
    outside = torch.ones(height, width, dtype=torch.bool)
    outside[top:bottom, left:right] = False
    assert (pasted[:, :, outside] == images[:, :, outside]).all()
    assert (pasted[:, :, ~outside] == images.flip(0)[:, :, ~outside]).all()
    assert 1 - exact.weight == pytest.approx((~outside).float().mean().item(), abs=1e-6)
    assert 1 - exact.weight <= 1 - weight + 1e-9
    assert (images[0] == 0.25).all()


def test_a_box_away_from_the_border_has_the_proportions_of_the_image():
    boxes = {draw_box(40, 20, 0.75, torch.Generator().manual_seed(seed)) for seed in range(300)}
    whole = {(bottom - top, right - left) for top, bottom, left, right in boxes if top > 0 < left}
    assert (20, 10) in whole
    assert max(whole) == (20, 10)
    rows = [(top + bottom) / 2 for top, bottom, _, _ in boxes]
    assert min(rows) < 8
    assert max(rows) > 32


def test_cutmix_loss_is_the_criterion_of_the_pasted_batch_with_mixed_labels(network, batch, criterion):
    images, targets = batch
    seen = []
    network.eval()
    network.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    loss = CutMix().loss(network, [images], targets, criterion, torch.Generator().manual_seed(3))
    (pasted,) = seen
    share = (pasted != images).any(dim=1).float().mean(dim=(1, 2))
    kept = 1 - share.max()  # cases whose partner is themselves change nothing
    assert 0 < kept < 1
    partner = [
        next(j for j in range(24) if torch.equal(torch.where(p == x, x, images[j]), p))
        for p, x in zip(pasted, images, strict=True)
    ]
    logits = network(pasted)
    mixed = kept * criterion(logits, targets) + (1 - kept) * criterion(logits, targets[partner])
    changed = share > 0
    torch.testing.assert_close(loss[changed], mixed[changed], rtol=1e-4, atol=1e-5)


def test_cutmix_leaves_the_share_of_batches_alone_that_it_should(network, batch, criterion, rng):
    images, targets = batch
    network.eval()
    plain = criterion(network(images), targets)
    torch.testing.assert_close(CutMix(probability=0.0).loss(network, [images], targets, criterion, rng), plain)
    alone = [
        torch.equal(CutMix(probability=0.5).loss(network, [images], targets, criterion, rng), plain) for _ in range(100)
    ]
    assert 0.3 < np.mean(alone) < 0.7


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_mixing_at_any_layer_of_a_linear_network_is_mixing_of_its_outputs(layer, batch, rng):
    network, mixing = Linear(), Mixing.draw(24, 2.0, rng)
    (logits,) = logits_with_change(network, batch[:1], layer, lambda _, x: mixing.blend(x))
    torch.testing.assert_close(logits, mixing.blend(network(batch[0])))
    assert not hooks_of(network)


def test_manifold_mixup_of_a_linear_network_is_the_criterion_of_mixed_outputs(batch, criterion):
    network, (images, targets) = Linear(), batch
    for seed in range(5):
        loss = ManifoldMixup().loss(network, [images], targets, criterion, torch.Generator().manual_seed(seed))
        rng = torch.Generator().manual_seed(seed)
        draw_layer((0, 1, 2), rng)
        mixing = Mixing.draw(24, 2.0, rng)
        torch.testing.assert_close(loss, mixing.loss(mixing.blend(network(images)), targets, criterion))


def test_manifold_mixup_mixes_at_each_of_its_layers_equally_often(network, batch, criterion, rng, monkeypatch):
    counts = np.bincount([draw_layer((0, 1, 2), rng) for _ in range(600)])
    assert stats.chisquare(counts).pvalue > 0.01
    seen = set()
    real = logits_with_change

    def recording(network, views, layer, change):
        seen.add(layer)
        return real(network, views, layer, change)

    monkeypatch.setattr("memclf.vision.nets.recipes.manifold_mixup.logits_with_change", recording)
    for _ in range(30):
        ManifoldMixup().loss(network, batch[:1], batch[1], criterion, rng)
    assert seen == {0, 1, 2}


def test_the_hook_is_gone_afterwards_even_after_an_error(network, batch):
    images, _ = batch
    network.eval()
    before = network(images)

    def broken(_, features):
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        logits_with_change(network, [images], 2, broken)
    assert not hooks_of(network)
    torch.testing.assert_close(network(images), before)
    with change_output(network.stages[0], lambda features: features * 0):
        assert (network(images) != before).any()
    assert not hooks_of(network)
    torch.testing.assert_close(network(images), before)


def test_every_view_is_changed_on_its_own_whichever_way_the_network_takes_them(network, batch):
    network.eval()
    views, seen = [batch[0] * factor for factor in (1.0, 0.7, 0.4)], []

    def change(number, features):
        seen.append((number, len(features)))
        return features * (number + 1)

    together = logits_with_change(network, views, 2, change)
    assert seen == [(0, 24), (1, 24), (2, 24)]
    for number, view in enumerate(views):
        (alone,) = logits_with_change(network, [view], 2, lambda _, x, number=number: x * (number + 1))
        torch.testing.assert_close(together[number], alone)


def test_manifold_mixup__stage_that_is_not_passed__is_an_error(batch, criterion, rng):
    class Idle(Linear):
        def forward(self, x):
            return self.fc(x.mean(dim=(2, 3)))

    with pytest.raises(RuntimeError, match="stage 1 of Idle was passed 0 times by 1 views"):
        ManifoldMixup(layers=(1,)).loss(Idle(), batch[:1], batch[1], criterion, rng)


def test_a_network_without_enough_stages_is_refused_before_anything_is_drawn(batch, criterion, rng):
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 3))
    before = rng.get_state()
    with pytest.raises(ValueError, match=r"mixes at layers \(0, 1, 2\), but Sequential has 0 stages .* layers=\(0,\)"):
        ManifoldMixup().loss(network, batch[:1], batch[1], criterion, rng)
    assert torch.equal(rng.get_state(), before)
    assert ManifoldMixup(layers=[0]).loss(network, batch[:1], batch[1], criterion, rng).shape == (24,)


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        (CutMix, {"alpha": 0.0}, "CutMix: alpha must be positive, got 0.0"),
        (CutMix, {"probability": 1.5}, "probability must be between 0 and 1"),
        (ManifoldMixup, {"alpha": -1.0}, "alpha must be positive"),
        (ManifoldMixup, {"layers": ()}, r"layers must be one or more numbers from 0 upwards, got \(\)"),
        (ManifoldMixup, {"layers": (-1,)}, "layers must be one or more numbers from 0 upwards"),
    ],
)
def test_impossible_settings_are_refused(recipe, settings, message):
    with pytest.raises(ValueError, match=message):
        recipe(**settings)
