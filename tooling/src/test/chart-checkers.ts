import { existsSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { installGoProgram } from "./go-program.ts";
import { run, type ProcessResult } from "./run.ts";

/** Helm (Apache 2.0) and kubernetes-validate (Apache 2.0), which has Kubernetes' schemas inside. */
const helmVersion = "v3.19.0";
const validatorVersion = "1.37.0";

const folder = join(rootFolder, ".cache/chart");
const python = join(folder, `kubernetes-validate-${validatorVersion}/bin/python`);

/**
 * Installs what checks the Helm chart, unless it is here.
 *
 * @returns `RELICARIO_TEST_HELM` and `RELICARIO_TEST_PYTHON`
 * @throws Error without Go or Python
 */
export async function installChartCheckers(): Promise<Readonly<Record<string, string>>> {
  const helm = await installGoProgram("helm.sh/helm/v3/cmd/helm", helmVersion);
  if (!existsSync(python)) {
    const needed = "The schemas need Python: apt-get install python3-venv.";
    requireSuccess(await run("python3", ["-m", "venv", join(python, "../..")]), needed);
    requireSuccess(
      await run(python, ["-m", "pip", "install", "-q", `kubernetes-validate==${validatorVersion}`]),
      needed,
    );
  }
  return { RELICARIO_TEST_HELM: helm, RELICARIO_TEST_PYTHON: python };
}

function requireSuccess({ code, output }: ProcessResult, message: string): void {
  if (code !== 0) throw new Error(`${message}\n${output}`);
}
