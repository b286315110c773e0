import pytest
import torch
from torch import nn

from memclf.vision.nets.preact import PreActBlock, PreActResNet18


@pytest.fixture(scope="module")
def network():
    return PreActResNet18(10).eval()


def test_it_has_about_eleven_million_weights(network):
    # By hand: stem 1728, stages 147968 + 525184 + 2098944 + 8392192, batch norms included, head 5130.
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == 11_171_146


def test_the_features_after_the_stages_have_the_published_shapes(network):
    shapes = []
    hooks = [
        stage.register_forward_hook(lambda module, args, output: shapes.append(tuple(output.shape)))
        for stage in network.stages
    ]
    with torch.no_grad():
        features = network.forward_features(torch.rand(2, 3, 32, 32))
    for hook in hooks:
        hook.remove()
    assert shapes == [(2, 64, 32, 32), (2, 128, 16, 16), (2, 256, 8, 8)]
    assert features.shape == (2, 512, 4, 4)


def test_the_head_pools_the_last_features_without_batch_norm_or_relu(network):
    x = torch.rand(2, 3, 32, 32)
    with torch.no_grad():
        features = network.forward_features(x)
        embedding = network.forward_head(features, pre_logits=True)
        torch.testing.assert_close(embedding, nn.functional.avg_pool2d(features, 4).flatten(1))
        torch.testing.assert_close(network(x), network.fc(embedding))
    assert embedding.shape == (2, network.num_features)
    assert (embedding < 0).any()


@pytest.mark.parametrize(("height", "width", "stride"), [(32, 32, 1), (64, 64, 1), (64, 65, 2), (256, 128, 2)])
def test_larger_images_are_halved_by_the_stem(height, width, stride):
    network = PreActResNet18.for_size(5, height, width)
    assert network.conv1.stride == (stride, stride)
    assert network.fc.out_features == 5


def test_images_need_not_be_square(network):
    with torch.no_grad():
        assert network(torch.rand(1, 3, 40, 24)).shape == (1, 10)


def test_preact_block__output__is_shortcut_plus_branch():
    torch.manual_seed(0)
    x = torch.randn(2, 4, 6, 6)
    for block in (PreActBlock(4, 4).eval(), PreActBlock(4, 8, 2).eval()):
        activated = block.bn1(x).relu()
        shortcut = x if block.shortcut is None else block.shortcut(activated)
        branch = block.conv2(block.bn2(block.conv1(activated)).relu())
        torch.testing.assert_close(block(x), branch + shortcut)
    assert PreActBlock(4, 4).shortcut is None
    assert PreActBlock(4, 8, 1).shortcut is not None


def test_gradients_reach_every_weight():
    network = PreActResNet18(3)
    network(torch.rand(2, 3, 16, 16)).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
