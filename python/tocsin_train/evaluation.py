"""What a model is worth on frames that it has not seen, beside a plain baseline."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

CALIBRATION_BINS = 10


def figures(target: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """ROC AUC, PR AUC (average precision), Brier score and expected calibration error."""
    return {
        "roc_auc": float(roc_auc_score(target, score)),
        "pr_auc": float(average_precision_score(target, score)),
        "brier": float(brier_score_loss(target, score)),
        "calibration_error": calibration_error(target, score),
    }


def calibration_error(target: np.ndarray, score: np.ndarray) -> float:
    """Mean distance between score and frequency over bins of equal width, weighted by count."""
    bins = np.minimum((score * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    error = 0.0
    for index in range(CALIBRATION_BINS):
        inside = bins == index
        if inside.any():
            error += inside.mean() * abs(target[inside].mean() - score[inside].mean())
    return float(error)


def baseline_scores(
    train_values: np.ndarray, train_target: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Logistic regression on the newest frame alone: what a sequence model has to beat."""
    model = LogisticRegression(max_iter=1000, C=0.1)
    model.fit(train_values, train_target)
    return model.predict_proba(values)[:, 1]


def threshold_for_rate(score: np.ndarray, alert_rate: float) -> float:
    """The score that `alert_rate` of all frames reach or pass."""
    return float(np.quantile(score, 1.0 - alert_rate))
