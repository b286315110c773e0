import pytest
import torch
from torch import nn

from memclf.vision.nets.recipes import Adversarial
from memclf.vision.nets.recipes.adversarial import evaluating

VARIANTS = [
    Adversarial(),
    Adversarial(steps=1, alpha=10 / 255),
    Adversarial(steps=1, alpha=8 / 255, random_start=False),
    Adversarial(epsilon=0.3, alpha=0.1, steps=7),
]


@pytest.mark.parametrize("recipe", VARIANTS, ids=str)
def test_the_attack_stays_in_the_ball_and_among_pixels_and_raises_the_loss(recipe, network, batch, criterion, rng):
    images, targets = batch
    images = images.clone()
    images[:, :, :2] = 0.0
    images[:, :, -2:] = 1.0
    attacked = recipe.attack(network, images, targets, criterion, rng)
    assert (attacked - images).abs().max() <= recipe.epsilon + 1e-6
    assert (attacked - images).abs().max() > 0.9 * recipe.epsilon
    assert attacked.min() >= 0
    assert attacked.max() <= 1
    assert not attacked.requires_grad
    network.eval()
    assert (criterion(network(attacked), targets) > criterion(network(images), targets)).float().mean() > 0.9


def test_one_full_step_from_the_image_is_the_fast_gradient_sign_method(network, batch, criterion, rng):
    images, targets = batch
    recipe = Adversarial(steps=1, alpha=8 / 255, random_start=False)
    attacked = recipe.attack(network, images, targets, criterion, rng)
    network.eval()
    x = images.clone().requires_grad_()
    criterion(network(x), targets).sum().backward()
    torch.testing.assert_close(attacked, (images + 8 / 255 * x.grad.sign()).clamp(0, 1))


def test_more_steps_make_a_stronger_attack(network, batch, criterion):
    images, targets = batch
    losses = []
    for steps in (1, 10):
        recipe = Adversarial(epsilon=0.1, alpha=0.02, steps=steps, random_start=False)
        attacked = recipe.attack(network, images, targets, criterion, torch.Generator())
        with evaluating(network):
            losses.append(criterion(network(attacked), targets).mean())
    assert losses[1] > losses[0]


def test_the_random_start_fills_the_ball(batch, criterion, rng):
    class Flat(nn.Module):
        """Answers the same whatever it sees, so that the attack stays where it started."""

        def forward(self, x):
            return x.sum(dim=(1, 2, 3))[:, None] * torch.zeros(3)

    images = batch[0].clamp(0.1, 0.9)
    moved = Adversarial(steps=1).attack(Flat(), images, batch[1], criterion, rng) - images
    assert moved.abs().max() <= 8 / 255 + 1e-6
    assert moved.std().item() == pytest.approx(8 / 255 / 3**0.5, rel=0.05)
    still = Adversarial(steps=1, random_start=False).attack(Flat(), images, batch[1], criterion, rng)
    torch.testing.assert_close(still, images)


def test_gradients_of_the_attack_do_not_reach_the_parameters(network, batch, criterion, rng):
    images, targets = batch
    Adversarial(steps=2).attack(network, images, targets, criterion, rng)
    assert all(parameter.grad is None for parameter in network.parameters())
    assert images.grad is None
    attacked = Adversarial(steps=2).attack(network, images, targets, criterion, torch.Generator().manual_seed(1))
    loss = Adversarial(steps=2).loss(network, [images], targets, criterion, torch.Generator().manual_seed(1))
    loss.sum().backward()
    ours = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    criterion(network(attacked), targets).sum().backward()
    for grad, parameter in zip(ours, network.parameters(), strict=True):
        torch.testing.assert_close(grad, parameter.grad)


def test_running_statistics_see_the_training_pass_only(network, batch, criterion, rng):
    images, targets = batch
    before = {name: value.clone() for name, value in network.state_dict().items()}
    Adversarial().attack(network, images, targets, criterion, rng)
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]), name
    Adversarial().loss(network, [images], targets, criterion, rng)
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    assert [int(norm.num_batches_tracked) for norm in norms] == [1, 1, 1]
    assert not torch.equal(norms[0].running_mean, before["blocks.0.1.running_mean"])


def test_every_module_is_back_in_its_mode_even_after_an_error(network, batch, criterion, rng):
    network.blocks[1].eval()
    modes = {name: module.training for name, module in network.named_modules()}
    assert len(set(modes.values())) == 2
    Adversarial(steps=1).loss(network, batch[:1], batch[1], criterion, rng)
    assert {name: module.training for name, module in network.named_modules()} == modes

    def broken(logits, targets):
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        Adversarial().attack(network, *batch, broken, rng)
    assert {name: module.training for name, module in network.named_modules()} == modes


def test_it_attacks_where_gradients_are_switched_off(network, batch, criterion, rng):
    with torch.no_grad():
        attacked = Adversarial(steps=2).attack(network, *batch, criterion, rng)
    assert (attacked != batch[0]).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 8}, r"Adversarial: epsilon must be .* \(pixels are in \[0, 1\]: write 8 / 255\), got 8"),
        ({"alpha": 0.0}, "alpha must be above 0"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Adversarial(**settings)
