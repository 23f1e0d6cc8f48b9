"""Methods x removal operators: the grid, what being at home is worth, and the crossing of two methods."""

from assay.grid.crossing import Crossing, crossing
from assay.grid.home import Advantage, Lead, home_advantage, leads
from assay.grid.tables import Grid, Table, grid, grid_of, kind_of

__all__ = [
    "Advantage",
    "Crossing",
    "Grid",
    "Lead",
    "Table",
    "crossing",
    "grid",
    "grid_of",
    "home_advantage",
    "kind_of",
    "leads",
]
