"""The one exception of this package: a config that cannot be read, in a sentence a person can act on."""


class ConfigError(ValueError):
    """Names the field, its value, the rule it breaks and a way out."""
