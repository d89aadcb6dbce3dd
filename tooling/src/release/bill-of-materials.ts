/** Bills of materials (SBOM, CycloneDX), by `pnpm sbom`. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { runPnpm } from "./pnpm.ts";

export const billOfMaterialsFile = "sbom.cdx.json";

const Bill = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.looseObject({}),
  components: z.array(z.looseObject({ "bom-ref": z.string() })),
});

/**
 * Reproducible: sorts components, drops serial number and time, which CycloneDX does not require.
 */
export async function writeBillOfMaterials(packageFolder: string, pnpm?: string): Promise<void> {
  const sbomArguments =
    "sbom --sbom-format cyclonedx --sbom-spec-version 1.6 --sbom-type application --prod --filter .";
  const output = await runPnpm(packageFolder, sbomArguments.split(" "), pnpm);
  const { serialNumber: _number, ...bill } = Bill.parse(JSON.parse(output));
  const { timestamp: _time, ...metadata } = bill.metadata;
  const components = bill.components.toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  mkdirSync(join(packageFolder, "build"), { recursive: true });
  writeFileSync(
    join(packageFolder, "build", billOfMaterialsFile),
    `${JSON.stringify({ ...bill, metadata, components })}\n`,
  );
}

export function copyBillOfMaterials(packageFolder: string, folder: string): void {
  const bill = join(packageFolder, "build", billOfMaterialsFile);
  if (existsSync(bill)) copyFileSync(bill, join(folder, billOfMaterialsFile));
}
