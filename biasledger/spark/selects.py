"""Replacements for syntax that Spark lacks: `* replace`, `union by name`, windows made of named ones, lists unnested together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from biasledger.spark.nodes import call, is_call, template

Columns = Callable[[exp.Table], list[str]]


class _Stars:
    """Names of the columns of queries, which are found while stars are written out."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._ctes: dict[str, list[str]] = {}

    def of(self, query: exp.Expr) -> list[str]:
        """Return the columns of a query, whose stars with `replace` and unions by name are written out."""
        query = query.unnest() if isinstance(query, (exp.Subquery, exp.Paren)) else query
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ else []:
            # Walked for its stars whether it names its columns or not.
            inner = self.of(cte.this)
            self._ctes[cte.alias] = [one.name for one in cte.args["alias"].columns] or inner
        if isinstance(query, exp.SetOperation):
            return self._union(query)
        return self._select(query) if isinstance(query, exp.Select) else []

    def _union(self, query: exp.SetOperation) -> list[str]:
        left, right = self.of(query.this), self.of(query.expression)
        if not query.args.get("by_name"):
            return left
        both = [*left, *(name for name in right if name not in left)]
        for side, names in (("this", left), ("expression", right)):
            if names != both:
                picked = [
                    exp.column(name, quoted=True)
                    if name in names
                    else exp.alias_(exp.Null(), name, quoted=True)
                    for name in both
                ]
                body = query.args[side].unnest()
                query.set(side, exp.select(*picked).from_(body.copy().subquery("_named")))
        query.set("by_name", False)
        return both

    def _select(self, query: exp.Select) -> list[str]:
        sources = _sources(query)
        for subquery in query.find_all(exp.Subquery):
            if subquery.parent_select is query:
                self.of(subquery.this)
        names: list[str] = []
        projections: list[exp.Expr] = []
        for projection in query.expressions:
            star = projection.this if isinstance(projection, exp.Column) else projection
            if not isinstance(star, exp.Star):
                names.append(projection.alias_or_name)
                projections.append(projection)
                continue
            left_out = {one.name for one in star.args.get("except_") or []}
            swapped = {one.alias: one for one in star.args.get("replace") or []}
            called = {one.this.name: one.alias for one in star.args.get("rename") or []}
            table = projection.table if isinstance(projection, exp.Column) else None
            listed = [
                (name, column)
                for name, source in sources.items()
                if table is None or name == table
                for column in self.columns_of(source)
                if column not in left_out
            ]
            # If two columns have the same name, the first counts.
            picked = {column: name for name, column in reversed(listed) if column not in names}
            picked = {column: picked[column] for _, column in listed if column in picked}
            names += [called.get(column, column) for column in picked]
            projections += (
                [
                    exp.alias_(exp.column(column, name, quoted=True), called[column], quoted=True)
                    if column in called
                    else swapped.get(column) or exp.column(column, name, quoted=True)
                    for column, name in picked.items()
                ]
                if swapped or called or len(picked) < len(listed)
                else [projection]
            )
        query.set("expressions", projections)
        return names

    def columns_of(self, source: exp.Expr) -> list[str]:
        """Return the columns of a table, a CTE or a subquery."""
        if isinstance(source, exp.Table):
            known = None if source.db else self._ctes.get(source.name)
            return self._columns(source) if known is None else known
        if isinstance(source, exp.Subquery):
            return self.of(source.this)
        alias = source.args.get("alias")
        return [one.name for one in alias.columns] if alias else []


def expand_stars(tree: exp.Expr, columns: Columns) -> None:
    """Write out stars with `replace` and those of several tables, and give both sides of a union by name the same columns."""
    needed = (
        star.args.get("replace")
        or star.args.get("rename")
        or (star.parent_select and star.parent_select.args.get("joins"))
        for star in tree.find_all(exp.Star)
        if not isinstance(star.parent, exp.Count)
    )
    if any(needed) or any(union.args.get("by_name") for union in tree.find_all(exp.SetOperation)):
        _Stars(columns).of(tree)


def columns_of_sources(tree: exp.Expr, columns: Columns) -> Iterator[tuple[exp.Select, set[str]]]:
    """Yield each select of a query with the names of all columns that it can read."""
    stars = _Stars(columns)
    stars.of(tree.copy())
    for select in tree.find_all(exp.Select):
        yield select, {name for source in _sources(select).values() for name in stars.columns_of(source)}


def _sources(query: exp.Select) -> Mapping[str, exp.Expr]:
    relations = [query.args.get("from_"), *(query.args.get("joins") or [])]
    return {one.this.alias_or_name: one.this for one in relations if one is not None}


def _select(select: exp.Select) -> None:
    _write_out_windows(select)
    _walk_in_step(select)


def _write_out_windows(select: exp.Select) -> None:
    """Spark knows named windows, but not `over (name rows …)`."""
    named = {window.name: window for window in select.args.get("windows") or []}
    for window in list(select.find_all(exp.Window)) if named else []:
        base = named.get(window.alias)
        if base is None or window in named.values():
            continue
        for part in ("partition_by", "order", "spec"):
            if not window.args.get(part) and (given := base.args.get(part)):
                window.set(part, [one.copy() for one in given] if isinstance(given, list) else given.copy())
        window.set("alias", None)
    if named:
        select.set("windows", None)


def _walk_in_step(select: exp.Select) -> None:
    """Lists that a select unnests: DuckDB walks several of them in step, Spark would cross them."""
    found = [
        (node, node.this if isinstance(node, exp.Explode) else _places(node.expressions[0]))
        for projection in select.expressions
        for node in projection.find_all(exp.Explode, exp.Anonymous)
        if node.find_ancestor(exp.Select) is select
        and (isinstance(node, exp.Explode) or is_call(node, "generate_subscripts"))
    ]
    if not found:
        return
    if select.args.get("group"):
        raise UnsupportedError("unnest next to group by")
        # Earlier columns of the same list may be used here, but not in a join.
    before = {
        one.alias: one.this
        for one in select.expressions
        if isinstance(one, exp.Alias) and not one.find(exp.Explode)
    }
    lists = [
        argument.copy().transform(
            lambda node: (
                exp.paren(before[node.name].copy())
                if isinstance(node, exp.Column) and not node.table and node.name in before
                else node
            )
        )
        for _, argument in found
    ]
    names = [f"_walked_{number}" for number in range(len(found))]
    for (node, _), name in zip(found, names, strict=True):
        node.replace(exp.alias_(exp.column(name), "unnest") if node.parent is select else exp.column(name))
    zipped = lists if len(lists) == 1 else [call("coalesce", one, exp.Array()) for one in lists]
    lateral = exp.Lateral(
        this=call("inline", call("arrays_zip", *zipped)),
        view=True,
        alias=exp.TableAlias(
            this=exp.to_identifier("_walked"), columns=[exp.to_identifier(name) for name in names]
        ),
    )
    if not select.args.get("from_"):
        select.set("from_", exp.From(this=exp.select("1 as _one").subquery("_nothing")))
    for projection in select.expressions:
        if isinstance(projection, exp.Star):
            hidden = [exp.to_identifier(name) for name in names]
            projection.set("except_", [*(projection.args.get("except_") or []), *hidden])
    select.append("laterals", lateral)


def _places(of: exp.Expr) -> exp.Expr:
    return template("transform(_list, (_one, _place) -> _place + 1)", _list=of)


SELECTS: Mapping[type[exp.Expr], Callable[..., exp.Expr | None]] = {exp.Select: _select}
