/**
 * What a package is made of: a CycloneDX document (SBOM), by `pnpm sbom` from the lockfile and the
 * installed packages.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { runPnpm } from "./pnpm.ts";

/** Its name in a release, and in what the host is served from. */
export const billOfMaterialsFile = "sbom.cdx.json";

const Bill = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.looseObject({}),
  components: z.array(z.looseObject({ "bom-ref": z.string() })),
});

/**
 * Writes it into the package's `build`. The same sources give the same bytes: components stand in
 * order, and the number and time of the run, which CycloneDX does not ask for, are left out.
 */
export async function writeBillOfMaterials(packageFolder: string): Promise<void> {
  const output = await runPnpm(packageFolder, [
    "sbom",
    "--sbom-format",
    "cyclonedx",
    "--sbom-spec-version",
    "1.6",
    "--sbom-type",
    "application",
    "--prod",
    "--filter",
    ".",
  ]);
  const { serialNumber: _number, ...bill } = Bill.parse(JSON.parse(output));
  const { timestamp: _time, ...metadata } = bill.metadata;
  const components = bill.components.toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  mkdirSync(join(packageFolder, "build"), { recursive: true });
  writeFileSync(
    join(packageFolder, "build", billOfMaterialsFile),
    `${JSON.stringify({ ...bill, metadata, components })}\n`,
  );
}

/** Puts a package's bill, where it has one, among the files that are served. */
export function copyBillOfMaterials(packageFolder: string, folder: string): void {
  const bill = join(packageFolder, "build", billOfMaterialsFile);
  if (existsSync(bill)) copyFileSync(bill, join(folder, billOfMaterialsFile));
}
