"""The metrics of the judge of whole rows, as the package names them."""

CUTS = {
    "ERR": "ERR(max=4)@{}",
    "RBP": "RBP(p=0.6)@{}",
    "ERR@all": "ERR(max=4)@all",
    "RBP@all": "RBP(p=0.6)@all",
    "AUC@k": "AUC@{}",
    "IPrec": "IPrec@0.4",
    "AP(norm=hits)": "AP(norm=hits)@{}",
}
OPTIONS = {name: {"max": 4, "p": 0.6} for name in ("ERR", "RBP", "ERR@all", "RBP@all")} | {"IPrec": {"recall": 0.4}}


def name_of(name, k):
    """Return the package's name of one of the judge's metrics, at a cutoff where it has one."""
    return CUTS.get(name, name).format(k)


def with_rel(name, rel):
    """Return a name with `rel`."""
    head, at, cutoff = name.partition("@")
    return (f"{head[:-1]},rel={rel})" if head.endswith(")") else f"{head}(rel={rel})") + at + cutoff
