"""Runs a command on other arithmetic than this machine's usual one; without a command, says what that would be.

    python tests/other_arithmetic.py python -m pytest

Sums, products and exponentials differ between processors in their last digits, and a test must not hang on them. What
numpy, BLAS, torch, OpenCV and the C library have chosen for this processor is asked of themselves, and switched off as
far as it can be. Then they are asked again: a run that would silently be on the usual arithmetic is an error. Where
nothing can be switched, similarities are moved by a unit in the last place instead (see `jitter`).
"""

import hashlib
import json
import math
import os
import platform
import subprocess
import sys
import warnings

# Plain kernels of OpenBLAS, one of which is in every build that can choose: x86, ARM, POWER and IBM Z.
CORES = ("Prescott", "Nehalem", "Haswell", "ARMV8", "NEOVERSEN1", "POWER8", "ZARCH_GENERIC")
X86 = platform.machine().lower() in ("x86_64", "amd64", "i686", "i386")


def described():
    """What this process computes with: the state of each library, and marks of what came out of a few sums."""
    return {**_of_numpy(), **_of_blas(), **_of_torch(), **_of_opencv(), "numbers": _numbers()}


def _of_numpy():
    try:
        from numpy._core import _multiarray_umath as core
    except ImportError:  # numpy 1
        from numpy.core import _multiarray_umath as core
    present = core.__cpu_features__
    return {"numpy": [name for name in core.__cpu_dispatch__ if present.get(name)], "fma": bool(present.get("FMA3"))}


def _of_blas():
    import scipy.linalg  # noqa: F401  (its BLAS is another than numpy's)
    from threadpoolctl import threadpool_info

    return {"openblas": sorted(each["architecture"] for each in threadpool_info() if each.get("architecture"))}


def _of_torch():
    try:
        import torch
    except ImportError:
        return {"torch": None}
    return {"torch": torch.backends.cpu.get_cpu_capability()}


def _of_opencv():
    try:
        import cv2
    except ImportError:
        return {"opencv": [], "ipp": False}
    features = cv2.getCPUFeaturesLine().split()  # a star: can be switched off; a question mark: is not there, or is off
    return {
        "opencv": [name.strip("*") for name in features if name.startswith("*") and not name.endswith("?")],
        "ipp": hasattr(cv2, "ipp") and bool(cv2.ipp.useIPP()),
    }


def _numbers():
    """A mark of what each library makes of the same numbers."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.uniform(-30, 0, 20_000)
    A = rng.normal(size=(150, 90))
    found = {
        "C library": np.array([(math.exp(v), math.log(-v), math.sin(v)) for v in x.tolist()]),
        "numpy": np.concatenate([np.exp(x), np.log(-x), np.sin(x), A.sum(axis=1)]),
        "numpy, single": np.concatenate([np.exp(x.astype("f4")), np.sin(x.astype("f4")), A.astype("f4").sum(axis=1)]),
        "BLAS": A @ A.T,
    }
    try:
        import torch
    except ImportError:
        pass
    else:
        torch.set_num_threads(1)
        T = torch.from_numpy(A).float()
        found["torch"] = torch.softmax(T, dim=1).numpy()
        found["torch, product"] = (T @ T.T).numpy()
        images, weights = T[:144].reshape(5, 3, 32, 27), T.reshape(-1)[:216].reshape(8, 3, 3, 3)
        found["torch, convolution"] = torch.nn.functional.conv2d(images, weights).numpy()
    try:
        import cv2
    except ImportError:
        pass
    else:
        picture = rng.random((64, 64, 3), dtype=np.float32)
        found["OpenCV"] = cv2.resize(cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB), (5, 5), 1.3), (41, 29))
    return {name: hashlib.md5(np.ascontiguousarray(each).tobytes()).hexdigest() for name, each in found.items()}


def settings_for(usual, core=None):
    """Environment variables that switch off what a machine described as `usual` has, and no more than that."""
    settings = {}
    if usual["numpy"]:
        settings["NPY_DISABLE_CPU_FEATURES"] = " ".join(usual["numpy"])
    if core is not None:
        settings["OPENBLAS_CORETYPE"] = core
    if usual["torch"] not in (None, "DEFAULT", "NO AVX"):
        settings["ATEN_CPU_CAPABILITY"] = "default"
        if X86:
            settings |= {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"}
    if usual["opencv"]:
        settings["OPENCV_CPU_DISABLE"] = ",".join(usual["opencv"])
    if usual["ipp"]:
        settings["OPENCV_IPP"] = "disabled"
    if usual["fma"] and platform.libc_ver()[0] == "glibc":  # the names of glibc since 2.33, and before
        settings["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"
    return settings


EVERY = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS")
EVERY += ("ONEDNN_MAX_CPU_ISA", "OPENCV_CPU_DISABLE", "OPENCV_IPP", "GLIBC_TUNABLES", "MEMCLF_JITTER")


def ask(settings):
    """`described` of a process with these settings and no others of their kind."""
    environment = {name: value for name, value in os.environ.items() if name not in EVERY} | settings
    found = subprocess.run([sys.executable, __file__, "--describe"], env=environment, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"other arithmetic: a process with {settings} failed:\n{found.stderr}")
    return json.loads(found.stdout.splitlines()[-1])


def complaints(usual, other, settings):
    """What did not take effect, in words."""
    said = []
    still = [name for name in usual["numpy"] if name in other["numpy"]]
    if still:
        said.append(f"numpy still uses {', '.join(still)}")
    if "OPENBLAS_CORETYPE" in settings and set(usual["openblas"]) & set(other["openblas"]):
        said.append(f"OpenBLAS still uses {', '.join(other['openblas'])}")
    if "ATEN_CPU_CAPABILITY" in settings and other["torch"] == usual["torch"]:
        said.append(f"torch still uses {other['torch']}")
    still = [name for name in usual["opencv"] if name in other["opencv"]] + ["IPP"] * other["ipp"]
    if still:
        said.append(f"OpenCV still uses {', '.join(still)}")
    if other["numbers"] == usual["numbers"]:
        said.append("every sum, product and exponential is the same to the last bit")
    return said


def other_arithmetic():
    """The settings for this machine, and a sentence on what they change. Ends the process where they change nothing."""
    usual = ask({})
    for core in (*CORES, None) if usual["openblas"] else (None,):  # a name that a build does not know has no effect
        settings = settings_for(usual, core)
        other = ask(settings)
        if set(other["openblas"]).isdisjoint(usual["openblas"]):
            break
    if not settings:
        return {"MEMCLF_JITTER": "1"}, "nothing can be switched off here: similarities are moved instead"
    said = complaints(usual, other, settings)
    if said:
        raise SystemExit(f"other arithmetic: the settings {settings} did not take effect: {'; '.join(said)}")
    changed = [name for name, mark in usual["numbers"].items() if other["numbers"][name] != mark]
    same = [name for name in usual["numbers"] if name not in changed]
    return settings, f"other numbers from: {'; '.join(changed)}" + (
        f". The same from: {'; '.join(same)}" if same else ""
    )


def main(command):
    if command == ["--describe"]:
        warnings.simplefilter("ignore")
        print(json.dumps(described()))
        return
    settings, said = other_arithmetic()
    for name, value in settings.items():
        print(f"{name}={value}")
    print(said, flush=True)
    if command:
        os.execvpe(command[0], command, {**os.environ, **settings})


if __name__ == "__main__":
    main(sys.argv[1:])
