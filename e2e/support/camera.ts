import { writeFile } from "node:fs/promises";
import path from "node:path";

import sharp from "sharp";

/**
 * Writes a film (motion JPEG) of one photograph, upright, 4:3. The browser reads it as the picture
 * of its camera when it opens the camera.
 *
 * @param fit `contain` shows all of it, on white
 * @returns path of the film
 */
export async function writeCameraFilm(
  photograph: string,
  folder: string,
  fit: "cover" | "contain" = "cover",
): Promise<string> {
  const frame = await sharp(photograph)
    .rotate()
    .resize(1600, 1200, { fit, background: "white" })
    .jpeg({ quality: 95 })
    .toBuffer();
  const filmPath = path.join(folder, "camera.mjpeg");
  await writeFile(filmPath, Buffer.concat(Array.from({ length: 5 }, () => frame)));
  return filmPath;
}

/** Arguments that give Chromium this camera, without asking whether a page may use it. */
export function buildCameraArguments(filmPath: string): readonly string[] {
  return [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-video-capture=${filmPath}`,
  ];
}
