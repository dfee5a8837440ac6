"""Linear algebra and lengths of numbers whose squares overflow or vanish in their dtype."""

import numpy as np
import pytest
from tessera import array_api as xp
from tessera import functional as F  # noqa: N812

RNG = np.random.default_rng(5)
REAL = RNG.standard_normal((4, 3))
COMPLEX = REAL + 1j * RNG.standard_normal((4, 3))
POWERS = [-30, -25, -20, -10, 0, 10, 19, 20, 25, 30, 36]


def positive(a):
    return a @ a.conj().T + np.eye(len(a))


def rebuilt(values, vectors):
    return xp.matmul(vectors * values, xp.conj(vectors.mT))


def of_svd(x):
    left, values, right = xp.linalg.svd(x, full_matrices=False)
    return xp.matmul(left * values, right)


# (name, operand, ours, what float64 gives); ranks are the same at every scale.
CASES = [
    ("abs", COMPLEX, xp.abs, np.abs),
    ("hypot", REAL, lambda x: F.hypot(x, x), lambda a: np.hypot(a, a)),
    ("norm 3", REAL, lambda x: F.norm(x, 3, axis=1), lambda a: np.linalg.norm(a, 3, axis=1)),
    ("norm -2", REAL, lambda x: F.norm(x, -2.0, axis=0), lambda a: np.linalg.norm(a, -2, axis=0)),
    ("norm 0.5", REAL, lambda x: F.norm(x, 0.5, axis=1), lambda a: np.linalg.norm(a, 0.5, axis=1)),
    ("normalize 3", REAL, lambda x: F.normalize(x, 3, axis=1, eps=0),
     lambda a: a / np.linalg.norm(a, 3, axis=1, keepdims=True)),
    ("vector_norm 3", COMPLEX, lambda x: xp.linalg.vector_norm(x, ord=3, axis=1),
     lambda a: np.linalg.norm(a, 3, axis=1)),
    ("cosine_similarity", REAL, lambda x: F.cosine_similarity(x, x[:, ::-1], eps=0),
     lambda a: (a * a[:, ::-1]).sum(1) / (a * a).sum(1)),
    ("quotient", COMPLEX, lambda x: x / x[::-1], lambda a: a / a[::-1]),
    ("sqrt", COMPLEX, xp.sqrt, np.sqrt),
    ("log", COMPLEX, xp.log, np.log),
    ("asinh", COMPLEX, xp.asinh, np.arcsinh),
    ("acosh", COMPLEX, xp.acosh, np.arccosh),
    ("atanh", COMPLEX, xp.atanh, np.arctanh),
    ("matrix_norm 1", COMPLEX, lambda x: xp.linalg.matrix_norm(x, ord=1),
     lambda a: np.linalg.norm(a, 1)),
    ("matrix_norm 2", COMPLEX, lambda x: xp.linalg.matrix_norm(x, ord=2),
     lambda a: np.linalg.norm(a, 2)),
    ("matrix_norm nuc", REAL, lambda x: xp.linalg.matrix_norm(x, ord="nuc"),
     lambda a: np.linalg.norm(a, "nuc")),
    ("matrix_rank", COMPLEX, xp.linalg.matrix_rank, np.linalg.matrix_rank),
    ("svd", REAL, of_svd, lambda a: a),
    ("svd of complex ones", COMPLEX, of_svd, lambda a: a),
    ("eigh", positive(REAL[:3]), lambda x: rebuilt(*xp.linalg.eigh(x)), lambda a: a),
    ("eigh of complex ones", positive(COMPLEX[:3]), lambda x: rebuilt(*xp.linalg.eigh(x)),
     lambda a: a),
    ("cholesky", positive(REAL[:3]), xp.linalg.cholesky, np.linalg.cholesky),
    ("cholesky of complex ones", positive(COMPLEX[:3]), xp.linalg.cholesky, np.linalg.cholesky),
    ("inv", REAL[:3], xp.linalg.inv, np.linalg.inv),
    ("inv of complex ones", COMPLEX[:3], xp.linalg.inv, np.linalg.inv),
    ("pinv", COMPLEX, xp.linalg.pinv, np.linalg.pinv),
    ("solve", COMPLEX[:3], lambda x: xp.linalg.solve(x, x[:, :2]), lambda a: np.eye(3)[:, :2]),
    ("slogdet", COMPLEX[:3], lambda x: xp.linalg.slogdet(x)[1], lambda a: np.linalg.slogdet(a)[1]),
    ("qr, R", REAL, lambda x: xp.abs(xp.linalg.qr(x)[1]), lambda a: np.abs(np.linalg.qr(a)[1])),
    ("qr, R of complex ones", COMPLEX, lambda x: xp.abs(xp.linalg.qr(x)[1]),
     lambda a: np.abs(np.linalg.qr(a)[1])),
    ("qr, Q of complex ones", COMPLEX, lambda x: xp.abs(xp.linalg.qr(x)[0]),
     lambda a: np.abs(np.linalg.qr(a)[0])),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_scale_changes_no_digit(case):
    _, operand, ours, wide = case
    iscomplex = np.iscomplexobj(operand)
    for power in POWERS:
        x = (operand * 10.0**power).astype("complex64" if iscomplex else "float32")
        want = wide(x.astype("complex128" if iscomplex else "float64"))
        if np.max(np.abs(want)) > 3e38 or np.max(np.abs(want)) < 1e-37:
            continue
        got = ours(xp.asarray(x)).numpy()
        assert np.isfinite(got).all(), power
        limit = 1e-4 * np.max(np.abs(want))
        np.testing.assert_allclose(got, want, rtol=0, atol=limit, err_msg=str(power))


def test_columns_of_a_qr_may_be_of_any_size():
    x = (COMPLEX * np.array([1e30, 1e-30, 1])).astype("complex64")
    q, r = xp.linalg.qr(xp.asarray(x))
    np.testing.assert_allclose(xp.matmul(xp.conj(q.mT), q).numpy(), np.eye(3), atol=1e-5)
    got = np.array(q.numpy(), "complex128") @ np.array(r.numpy(), "complex128")
    np.testing.assert_allclose(got[:, [0, 2]] / x[:, [0, 2]], np.ones((4, 2)), rtol=1e-4)
