/**
 * Attacker: has another shot of the same scene, taken from the same place, by a stranger or by the
 * user on another day.
 */
import { readFile } from "node:fs/promises";

import { expect, test } from "@playwright/test";
import { loadEngineInNode } from "@relicario/engine/node";

import { renderSecondShot, handheldMovement, type CameraMovement } from "../support/second-shot.ts";
import { photographs } from "../support/photographs.ts";

const noMovement: CameraMovement = { lateralShift: 0, yaw: 0, pitch: 0, roll: 0 };

for (const name of ["small", "friends", "sunset"] as const) {
  test(`another shot of the scene of “${name}” is refused, where one without camera movement opens`, async () => {
    const engine = await loadEngineInNode();
    const file = photographs[name];
    const { sketch } = await engine.enrol(new Uint8Array(await readFile(file)), []);
    const recoverWithMovement = async (movement: CameraMovement): Promise<string> =>
      (await engine.recover(new Uint8Array((await renderSecondShot(file, movement)).buffer), [sketch])).outcome;

    for (const movement of [
      handheldMovement,
      { ...noMovement, lateralShift: handheldMovement.lateralShift },
      { ...noMovement, yaw: 2 * handheldMovement.yaw },
    ])
      expect(await recoverWithMovement(movement)).toMatch(/^(not_this_picture|too_many_errors)$/);
    // light, noise and file differ too: only the movement causes the refusal
    expect(await recoverWithMovement(noMovement)).toBe("recovered");
  });
}
