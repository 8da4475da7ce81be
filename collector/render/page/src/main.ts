const element = document.getElementById("cozybracket-data");
const data = JSON.parse(element?.textContent ?? "{}") as { reports?: { analysis: { snapshots: { name: string; verdict?: string }[] } }[] };
for (const report of data.reports ?? []) {
  for (const snapshot of report.analysis.snapshots) {
    const heading = document.createElement("h2");
    heading.textContent = snapshot.verdict ?? snapshot.name;
    document.body.append(heading);
  }
}
