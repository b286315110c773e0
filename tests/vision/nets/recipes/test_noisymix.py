from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats

from memclf.vision.nets.recipes import AugMix, NoisyMix
from memclf.vision.nets.recipes.augmix import jensen_shannon
from memclf.vision.nets.recipes.mixing import Mixing
from memclf.vision.nets.recipes.views import draw_layer

SHAPE = (4, 8, 50, 50)


def test_additive_noise_is_sparse_normal_and_centred(rng):
    noise = NoisyMix(multiplicative=0.0).disturb(torch.zeros(SHAPE), 0, rng).numpy().ravel()
    assert (noise == 0).mean() == pytest.approx(0.65, abs=0.01)
    hit = noise[noise != 0]
    assert abs(hit.mean()) < 0.02 * hit.std()
    assert stats.kstest(hit[::10] / hit.std(), stats.norm.cdf).pvalue > 0.01


def test_multiplicative_noise_is_sparse_uniform_and_centred_at_one(rng):
    factor = NoisyMix(additive=0.0).disturb(torch.ones(SHAPE), 0, rng).numpy().ravel()
    assert (factor == 1).mean() == pytest.approx(0.65, abs=0.01)
    hit = (factor - 1)[factor != 1]
    level = np.abs(hit).max()
    assert stats.kstest(hit[::10], stats.uniform(-level, 2 * level).cdf).pvalue > 0.01
    assert hit.var() == pytest.approx(level**2 / 3, rel=0.05)
    assert (NoisyMix(additive=0.0).disturb(torch.zeros(SHAPE), 2, rng) == 0).all()


def test_the_level_is_drawn_from_beta_2_5_once_per_call(rng):
    additive, multiplicative = NoisyMix(multiplicative=0.0, sparsity=0.0), NoisyMix(additive=0.0, sparsity=0.0)
    small = (1, 1, 60, 60)
    levels = [additive.disturb(torch.zeros(small), 0, rng).std().item() / 0.5 for _ in range(200)]
    assert stats.kstest(levels, stats.beta(2, 5).cdf).pvalue > 0.01
    levels = [(multiplicative.disturb(torch.ones(small), 0, rng) - 1).abs().max().item() / 0.5 for _ in range(200)]
    assert stats.kstest(levels, stats.beta(2, 5).cdf).pvalue > 0.01


def test_noisymix__views__get_additive_noise_once_twice_and_three_times():
    def disturbed(recipe, view):
        return recipe.disturb(torch.ones(2, 3, 8, 8), view, torch.Generator().manual_seed(5)) - 1

    additive, multiplicative = NoisyMix(multiplicative=0.0), NoisyMix(additive=0.0)
    for view in (1, 2):
        torch.testing.assert_close(disturbed(additive, view), (view + 1) * disturbed(additive, 0), atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(disturbed(multiplicative, view), disturbed(multiplicative, 0))


def test_without_noise_it_is_manifold_mixup_with_the_divergence_of_augmix(network, batch, criterion):
    network.eval()
    images, targets = batch
    views = [images, images * 0.7, images.flip(3)]
    recipe = NoisyMix(additive=0.0, multiplicative=0.0, layers=(0,))
    loss = recipe.loss(network, views, targets, criterion, torch.Generator().manual_seed(2))
    rng = torch.Generator().manual_seed(2)
    draw_layer((0,), rng)
    mixing = Mixing.draw(24, 1.0, rng)
    logits = [network(mixing.blend(view)) for view in views]
    expected = mixing.loss(logits[0], targets, criterion) + 12 * jensen_shannon(logits)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)


def by_hand(network, layer, x, mixing, disturb):
    """A forward pass of the small network that mixes and disturbs without hooks."""
    if layer == 0:
        x = disturb(2 * mixing.blend(x) - 1) / 2 + 0.5
    x = network.stem(x)
    for number, block in enumerate(network.blocks, start=1):
        x = block(x)
        if number == layer:
            x = disturb(mixing.blend(x))
    return network.fc(x.mean(dim=(2, 3)))


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_each_third_of_one_pass_is_mixed_and_disturbed_like_a_view_on_its_own(layer, network, batch, criterion):
    network.eval()
    images, targets = batch
    views = [images, images * 0.7, images.flip(3)]
    recipe = NoisyMix(layers=(layer,))
    loss = recipe.loss(network, views, targets, criterion, torch.Generator().manual_seed(2))
    assert not [module for module in network.modules() if module._forward_hooks]

    rng = torch.Generator().manual_seed(2)
    draw_layer((layer,), rng)
    mixing = Mixing.draw(24, 1.0, rng)
    logits = [
        by_hand(network, layer, view, mixing, partial(recipe.disturb, view=k, rng=rng)) for k, view in enumerate(views)
    ]
    expected = mixing.loss(logits[0], targets, criterion) + 12 * jensen_shannon(logits)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)


def test_noise_at_the_input_is_in_units_of_the_authors_normalisation(network, batch, criterion):
    images, targets = batch
    seen = []
    network.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    recipe = NoisyMix(layers=(0,), multiplicative=0.0, sparsity=0.0)
    grey = [torch.full_like(images, 0.5)] * 3
    recipe.loss(network, grey, targets, criterion, torch.Generator().manual_seed(4))
    rng = torch.Generator().manual_seed(4)
    draw_layer((0,), rng)
    Mixing.draw(24, 1.0, rng)
    expected = [0.5 * recipe.disturb(torch.zeros_like(images), view, rng) + 0.5 for view in range(3)]
    torch.testing.assert_close(torch.cat(seen), torch.cat(expected))


def test_its_views_are_those_of_augmix_at_severity_three(photograph):
    ours = NoisyMix().views(photograph, np.random.default_rng(7))
    theirs = AugMix(severity=3).views(photograph, np.random.default_rng(7))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mixup_alpha": 0.0}, "NoisyMix: mixup_alpha must be positive, got 0.0"),
        ({"additive": -1.0}, "additive must be at least 0"),
        ({"multiplicative": -1.0}, "multiplicative must be at least 0"),
        ({"sparsity": 1.5}, "sparsity must be between 0 and 1"),
        ({"layers": ()}, "layers must be one or more numbers"),
        ({"severity": 0}, "NoisyMix: severity must be between 0.1 and 10"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NoisyMix(**settings)
