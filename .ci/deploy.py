"""What .ci/deploy checks that no tool checks by itself: the shell in workflows, the queries of the dashboard, the links between documents, the
names of settings."""

import json
import pathlib
import re
import subprocess
import sys

import yaml


def workflows(paths):
    """The scripts of the steps, as shellcheck wants them, and the actions, which are pinned to commits: a tag may move."""
    for path in paths:
        for job, definition in yaml.safe_load(pathlib.Path(path).read_text())["jobs"].items():
            for step in definition["steps"]:
                if "run" not in step:
                    if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]):
                        yield f"{path}, {job}: {step['uses']} is not pinned to a commit"
                    continue
                # An expression of GitHub is one word.
                script = "#!/usr/bin/env bash\nset -e\n" + re.sub(r"\$\{\{.*?\}\}", "expression", step["run"])
                checked = subprocess.run(["shellcheck", "-"], input=script, capture_output=True, text=True)
                if checked.returncode != 0:
                    yield f"{path}, {job}, {step.get('name', step['run'].splitlines()[0])}:\n{checked.stdout}"


def queries(dashboard, rules):
    """The queries of a dashboard, as rules that promtool reads."""
    content = json.loads(pathlib.Path(dashboard).read_text())
    found = [target["expr"] for panel in content["panels"] for target in panel.get("targets", [])]
    found += [annotation["expr"] for annotation in content["annotations"]["list"]]
    plain = [re.sub(r"\$(__rate_interval|__range)", "5m", query) for query in found]
    recorded = [{"record": f"dashboard:query:{number}", "expr": query} for number, query in enumerate(plain)]
    pathlib.Path(rules).write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    return []


def links(paths):
    """Links to files and headings of this repository that lead nowhere."""

    def without_code(path):
        return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)

    def anchors(path):
        headings = re.findall(r"^#+ +(.*)$", without_code(path), flags=re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}

    for path in map(pathlib.Path, paths):
        for link in re.findall(r"\]\(([^)\s]+)\)", without_code(path)):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            if not target.exists():
                yield f"{path}: there is no {link}"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{path}: {link} has no such heading"


def settings(paths):
    """Variables of Keyfold that neither the manual nor the project's schema knows."""
    manual = pathlib.Path("docs/operations.md").read_text() + pathlib.Path("docs/security.md").read_text()
    schema = pathlib.Path("schema.graphql").read_text()
    for path in map(pathlib.Path, paths):
        for name in sorted(set(re.findall(r"\bKEYFOLD_[A-Z_]+", path.read_text()))):
            option = "--" + name.removeprefix("KEYFOLD_").lower().replace("_", "-")
            if not re.search(rf"{option}(?![a-z-])", manual) and f"${{{name}" not in schema:
                yield f"{path}: {name} is no setting"


complaints = {
    "settings": lambda arguments: settings(arguments),
    "workflows": lambda arguments: workflows(arguments),
    "queries": lambda arguments: queries(*arguments),
    "links": lambda arguments: links(arguments),
}[sys.argv[1]](sys.argv[2:])
failed = False
for complaint in complaints:
    failed = True
    print(complaint)
sys.exit(failed)
