"""Functions that insert, delete and overwrite elements, and that pack bits into bytes."""
