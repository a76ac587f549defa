"""The exercises by their keys, in the order in which they get harder; what poses and judges them is in `catalogue`."""

BY_HAND = (
    "count_cells",
    "cut_layers",
    "fill_grid",
    "predict_bubble",
    "card_times",
    "balance_stages",
    "batch_norm",
    "three_cells",
)
IN_CODE = (
    "slot",
    "finish_time",
    "best_pieces",
    "gpipe_order",
    "scale_gradients",
    "recompute",
    "beat_gpipe",
)
KEYS = BY_HAND + IN_CODE
NOTEBOOKS = {"exercises": BY_HAND, "exercises-code": IN_CODE}  # where they are posed
