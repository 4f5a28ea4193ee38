"""In the place of libraries of some gigabytes, which xgrammar imports and needs for nothing that is asked of it here."""


class _Any:
    def __call__(self, *_, **__):
        return _Any()

    def __getattr__(self, _):
        return _Any()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {}) if name[0].isupper() else _Any()
