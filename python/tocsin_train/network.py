"""The recurrent burst model: LSTM or GRU over a window, a dense head, one probability."""

from __future__ import annotations

import torch
from torch import nn


class BurstNetwork(nn.Module):
    """[batch, steps, features] -> [batch, 1], P(burst). Both axes batch and steps are free."""

    def __init__(self, recipe, feature_count: int):
        super().__init__()
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[recipe.cell]
        self.cell = cell(
            feature_count,
            recipe.units,
            num_layers=recipe.layers,
            batch_first=True,
            dropout=recipe.dropout if recipe.layers > 1 else 0.0,
        )
        self.drop = nn.Dropout(recipe.dropout)
        self.head = nn.Linear(recipe.units, 1)

    def logits(self, window: torch.Tensor) -> torch.Tensor:
        """[batch, steps, features] -> [batch, 1] before the sigmoid."""
        states, _ = self.cell(window)
        return self.head(self.drop(states[:, -1, :]))

    def forward(self, window: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.logits(window))
