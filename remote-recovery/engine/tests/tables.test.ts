import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bucketTable, tablesSource } from "../tables/generate.ts";
import { bucketVector } from "./vectors.ts";

describe("tables", () => {
  it("are what the generator writes, whose hashes the profile fixes", () => {
    expect(readFileSync(fileURLToPath(new URL("../assembly/tables.ts", import.meta.url)), "utf8")).toBe(tablesSource());
  });

  it("hold the published buckets", () => {
    expect(bucketTable()).toEqual(bucketVector);
  });
});
