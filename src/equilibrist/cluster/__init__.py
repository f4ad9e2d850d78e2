"""Engines on a Ray cluster; no other package imports ray.

`connection` reaches a cluster or starts one, `engine` sweeps the subgames of a split game on its
nodes, `worker` is what runs there, `reach_log` keeps what lost tables are computed again from.
"""
