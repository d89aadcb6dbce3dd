/** `npm run vendor`: builds the second vendor's own remote. The next `npm start` serves it too. */
import { UserFacingError } from "../user-facing-error.ts";
import { buildSecondVendor } from "./second-vendor.ts";

const startedAt = performance.now();
try {
  const { name } = await buildSecondVendor();
  console.log(
    `The settings of ${name} are built (${((performance.now() - startedAt) / 1000).toFixed(1)} s). The next npm start has its portal two ports above the first.`,
  );
} catch (error) {
  console.error(error instanceof UserFacingError ? error.message : error);
  process.exitCode = 1;
}
