import fc from "fast-check";

import { listLostValues, readAnswering } from "../../testing/import-losses.ts";
import { fillSample, importSamples } from "../../testing/import-samples.ts";

/** Names that other programs use, names of object members, and unused names. */
const unknownMember = fc.record({
  name: fc.constantFrom(
    ...["note", "email", "folder", "TOTP", "Comment", "PIN", "zipcode", "custom_fields", "constructor", "__proto__"],
    ...["toString", "hasOwnProperty", "Größe", "x y", "nick name", "history"],
  ),
  shape: fc.constantFrom("text", "list", "object", "number"),
  position: fc.nat(40),
});

describe("every value of a file", () => {
  it.each(importSamples.map((sample) => [`${sample.format}, ${sample.kind}`, sample] as const))(
    "ends in an item, in a failure or in a named omission: %s",
    async (_name, sample) => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(unknownMember, { selector: ({ name }) => name.toLowerCase(), maxLength: 6 }),
          async (unknownMembers) => {
            const { text, planted } = fillSample(sample, unknownMembers);
            const read = await readAnswering(text);
            expect(read.status === "read" ? await listLostValues(planted, read) : read).toEqual([]);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
