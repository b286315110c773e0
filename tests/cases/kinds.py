"""The same four cases in every kind of container."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

ROWS = np.arange(12.0).reshape(4, 3)
KINDS = {
    "array": ROWS,
    "table": pd.DataFrame(ROWS, columns=list("abc")),
    "sparse": sp.csr_array(ROWS),
    "list": ROWS.tolist(),
    "texts": ["a", "b", "c", "d"],
}


def as_list(cases):
    return np.asarray(cases.toarray() if sp.issparse(cases) else cases).tolist()
