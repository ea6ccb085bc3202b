"""Draw artifacts of one paper: result tables in, each figure or table in every format out."""

import argparse
import sys
import traceback
from pathlib import Path

from reproduction.data import registry
from reproduction.plan.plan import show
from reproduction.run import records
from reproduction.show import names
from reproduction.show.panels import RenderError
from reproduction.show.rendering import draw
from reproduction.spec import errors_of_users
from reproduction.spec.artifact import load, without_groups

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--keys", nargs="+", type=Path, required=True, help="what the plan requests")
parser.add_argument("--records", nargs="+", type=Path, required=True, help="where to write")
options = parser.parse_args()

failures = []
for key, record in zip(options.keys, options.records, strict=True):
    name = str(key)
    try:
        with records.making(key, record) as making:
            name = making.context["name"]
            selection = without_groups(making.context["only"], registry.groups())
            scale = making.context["scale"]
            shown = [load(Path(file), scale, selection) for file in making.context["files"]]
            artifact = shown[0]
            making.outputs = [Path(file) for file in making.context["drawings"]]
            with names.using(artifact.file.parent):
                tables = making.context["tables"]
                draw(artifact.render, artifact.name, tables, show(shown), making.outputs)
    except RenderError as error:
        failures.append(str(error))
    except Exception as error:  # the other figures are drawn all the same
        traceback.print_exc()
        failures.append(f"{name}: {errors_of_users.describe_error(error)}")
sys.exit("; ".join(failures) or None)
