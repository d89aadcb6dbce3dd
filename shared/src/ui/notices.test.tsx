import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { errorCodes, HttpError, PortalError, type ErrorDetails } from "../errors/index.ts";
import { expectAccessible, renderApp } from "../testing/index.ts";
import { ErrorNotice, Notice } from "./notices.tsx";

describe("ErrorNotice", () => {
  it.each(["en", "es"] as const)("has a text for every code in %s", async (language) => {
    await renderApp(
      <main>
        {errorCodes.map((code) => (
          <ErrorNotice key={code} error={new PortalError(code)} />
        ))}
      </main>,
      { language },
    );
    expect(screen.getAllByRole("alert")).toHaveLength(errorCodes.length - 1); // `cancelled` shows nothing
    for (const alert of screen.getAllByRole("alert")) expect(alert.textContent).not.toMatch(/^$|errors:|_/);
  });

  const pictureErrors: readonly (readonly [language: "en" | "es", details: ErrorDetails, sentence: string])[] = [
    ["en", { reason: "empty" }, "This file is empty."],
    ["en", { reason: "not_a_picture" }, "This file is not a picture. Choose a JPEG or PNG picture."],
    [
      "en",
      { reason: "broken", kind: "jpeg" },
      "This picture is damaged or incomplete. Download or copy it again, save it again as JPEG or PNG, or choose another copy of it.",
    ],
    [
      "es",
      { reason: "broken", kind: "jpeg" },
      "Esta imagen está dañada o incompleta. Descárgala o cópiala de nuevo, guárdala otra vez como JPEG o PNG, o elige otra copia.",
    ],
    ["en", { reason: "too_small" }, "This picture is too small: it needs at least 64 pixels on each side."],
    [
      "en",
      { reason: "unsupported", kind: "cmyk_jpeg" },
      "Save it as JPEG or PNG with ordinary colours (RGB), and choose that copy.",
    ],
    [
      "es",
      { reason: "unsupported", kind: "cmyk_jpeg" },
      "Guárdalo como JPEG o PNG con colores normales (RGB) y elige esa copia.",
    ],
    [
      "en",
      { reason: "unsupported", kind: "twelve_bit_jpeg" },
      "This is a rare kind of JPEG (12 bits per colour). Save it again as an ordinary JPEG or PNG",
    ],
    [
      "es",
      { reason: "unsupported", kind: "lossless_jpeg" },
      "Este JPEG es de un tipo poco común (sin pérdida). Guárdalo de nuevo como JPEG normal o PNG",
    ],
    ["en", { reason: "unsupported", kind: "arithmetic_jpeg" }, "This is a rare kind of JPEG (arithmetic coding)."],
    [
      "en",
      { reason: "unsupported", kind: "animated_webp" },
      "This is an animated picture (WebP), which can't be used. Save one frame as JPEG or PNG",
    ],
    ["es", { reason: "unsupported", kind: "animated_avif" }, "Esta es una imagen animada (AVIF) y no se puede usar."],
    [
      "es",
      { reason: "unsupported", kind: "video" },
      "Esto es un vídeo. Guarda un fotograma como JPEG o PNG y elige esa imagen.",
    ],
    [
      "en",
      { reason: "unsupported", kind: "gif" },
      "This GIF file can't be read here. Save the picture as JPEG or PNG, and choose that copy.",
    ],
    [
      "es",
      { reason: "unsupported", kind: "tiff" },
      "Este archivo TIFF no se puede leer aquí. Guarda la imagen como JPEG o PNG y elige esa copia.",
    ],
    ["en", { reason: "unsupported", kind: "cr3" }, "This is a raw file from a camera (CR3). Save it as JPEG or PNG"],
    [
      "es",
      { reason: "unsupported", kind: "nef" },
      "Este es un archivo RAW de una cámara (NEF). Guárdalo como JPEG o PNG",
    ],
    [
      "en",
      { reason: "unsupported", kind: "something new" },
      "This file can't be read as a picture. Choose a JPEG or PNG picture.",
    ],
  ];
  it.each(pictureErrors)("explains in %s why a picture is refused: %j", async (language, details, sentence) => {
    await renderApp(<ErrorNotice error={new PortalError("picture_unreadable", { details })} />, { language });
    expect(screen.getByRole("alert")).toHaveTextContent(sentence);
  });

  it.each([
    [
      "en",
      "This picture has 9000 × 8000 pixels, more than can be read here for this kind of file. Save a smaller copy as JPEG",
    ],
    [
      "es",
      "Esta imagen tiene 9000 × 8000 píxeles, más de lo que se puede leer aquí con este tipo de archivo. Guarda una copia más pequeña como JPEG",
    ],
  ] as const)("states in %s the size of a picture that is too large", async (language, sentence) => {
    await renderApp(
      <ErrorNotice error={new PortalError("picture_too_large", { details: { width: 9000, height: 8000 } })} />,
      { language },
    );
    expect(screen.getByRole("alert")).toHaveTextContent(sentence);
  });

  it("never shows the message of an error", async () => {
    await renderApp(<ErrorNotice error={new Error("connect ECONNREFUSED 10.0.0.7")} />);
    expect(screen.getByRole("alert")).not.toHaveTextContent("ECONNREFUSED");
  });

  it("shows nothing for null and for cancelled", async () => {
    await renderApp(
      <main>
        <ErrorNotice error={null} />
        <ErrorNotice error={new PortalError("cancelled")} />
      </main>,
    );
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("shows the request id, and retries", async () => {
    const onRetry = jest.fn();
    const cause = new HttpError({
      status: 503,
      statusText: "Service Unavailable",
      path: "/secrets/store",
      requestId: "req-7",
      problem: null,
    });
    await renderApp(<ErrorNotice error={new PortalError("service_unavailable", { cause })} onRetry={onRetry} />);
    expect(screen.getByRole("alert")).toHaveTextContent("Reference for support: req-7");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(onRetry).toHaveBeenCalledTimes(1);
  });
});

it.each(["light", "dark"] as const)("notices have no accessibility violations in %s", async (theme) => {
  await renderApp(
    <main>
      {(["info", "success", "warn", "danger"] as const).map((tone) => (
        <Notice key={tone} tone={tone} title={tone} role="status">
          Something to know
        </Notice>
      ))}
    </main>,
    { theme },
  );
  await expectAccessible();
});
