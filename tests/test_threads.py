"""Threads of OpenCV, and our own."""

import threading

import cv2
import pytest

from memclf._threads import map_in_threads, one_opencv_thread


@pytest.fixture(autouse=True)
def _two_threads():
    before = cv2.getNumThreads()
    cv2.setNumThreads(2)
    yield
    cv2.setNumThreads(before)


def fail():
    with one_opencv_thread():
        raise KeyError


def test_one_opencv_thread__error_inside__the_number_before_is_restored():
    with pytest.raises(KeyError):
        fail()
    assert cv2.getNumThreads() == 2


def test_one_opencv_thread__two_at_a_time__the_last_restores_it():
    first, second = one_opencv_thread(), one_opencv_thread()
    first.__enter__()
    other = threading.Thread(target=second.__enter__)
    other.start()
    other.join()
    first.__exit__(None, None, None)
    assert cv2.getNumThreads() == 1
    second.__exit__(None, None, None)
    assert cv2.getNumThreads() == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_map_in_threads__several_at_a_time__results_stay_in_order(threads):
    begun = threading.Barrier(threads)

    def work(item):
        if item < threads:
            begun.wait(20)  # as many at a time as there are threads
        return item * item

    assert map_in_threads(work, range(20), threads) == [item * item for item in range(20)]


def test_map_in_threads__an_item_fails__its_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda item: 1 // item, [2, 1, 0, 1], 2)
