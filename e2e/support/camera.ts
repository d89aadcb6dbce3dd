import { writeFile } from "node:fs/promises";
import path from "node:path";

import sharp from "sharp";

/**
 * What the camera of a browser sees: a film (motion JPEG) of one photograph, upright, 4:3. A
 * browser reads it when it opens the camera.
 *
 * @param fit `contain` leaves all of it in sight, on white
 * @returns its path
 */
export async function cameraFilm(
  photograph: string,
  folder: string,
  fit: "cover" | "contain" = "cover",
): Promise<string> {
  const frame = await sharp(photograph)
    .rotate()
    .resize(1600, 1200, { fit, background: "white" })
    .jpeg({ quality: 95 })
    .toBuffer();
  const film = path.join(folder, "camera.mjpeg");
  await writeFile(film, Buffer.concat(Array.from({ length: 5 }, () => frame)));
  return film;
}

/** Chromium with that camera, which asks nobody whether a page may use it. */
export function cameraArguments(film: string): readonly string[] {
  return [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-video-capture=${film}`,
  ];
}
