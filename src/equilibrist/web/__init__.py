"""The page: play against bots and look into strategies in a browser; needs the extra `web`.

`app.py` puts the application together; each view has one module with its part of the API
(`tables.py`, `strategies.py`) and one module of the page (`static/views/`). `guard.py` decides
which requests are answered at all. Nothing else in the package imports FastAPI.
"""
