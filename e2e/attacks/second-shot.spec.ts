/**
 * Somebody was at the same place and took the same scene: the picture of a stranger, or of the
 * person on another day.
 */
import { readFile } from "node:fs/promises";

import { expect, test } from "@playwright/test";
import { loadEngineInNode } from "@relicario/engine/node";

import { renderSecondShot, handheldMovement, type CameraMovement } from "../support/second-shot.ts";
import { photographs } from "../support/photographs.ts";

const noMovement: CameraMovement = { lateralShift: 0, yaw: 0, pitch: 0, roll: 0 };

for (const name of ["small", "friends", "sunset"] as const) {
  test(`wants in with another shot of the scene of “${name}”: is refused, where the same camera in the same place is not`, async () => {
    const engine = await loadEngineInNode();
    const file = photographs[name];
    const { sketch } = await engine.enrol(new Uint8Array(await readFile(file)), []);
    const recoverWithMovement = async (movement: CameraMovement): Promise<string> =>
      (await engine.recover(new Uint8Array((await renderSecondShot(file, movement)).buffer), [sketch])).outcome;

    for (const movement of [
      handheldMovement,
      { ...noMovement, aside: handheldMovement.lateralShift },
      { ...noMovement, yaw: 2 * handheldMovement.yaw },
    ])
      expect(await recoverWithMovement(movement)).toMatch(/^(not_this_picture|too_many_errors)$/);
    // other light, other noise, another file: the movement alone is what refuses
    expect(await recoverWithMovement(noMovement)).toBe("recovered");
  });
}
