import { usePortal } from "@relicario/shared/contract";
import { useCallback, useEffect, useRef, useState } from "react";
import type { z } from "zod";

import { openCameraWindow, type CameraUse, type CameraWindowFailure } from "./camera-window.ts";

export type CameraWindowState =
  | { readonly status: "off" | "open" }
  | { readonly status: "failed"; readonly failure: CameraWindowFailure };

/** Opens the camera in a window of its own: [Note: Camera window]. Closes it on unmount. */
export function useCameraWindow<Result>(
  use: CameraUse,
  resultSchema: z.ZodType<Result>,
  onDone: (result: Result) => void,
) {
  const { language, theme } = usePortal();
  const [state, setState] = useState<CameraWindowState>({ status: "off" });
  const closeWindow = useRef<(() => void) | null>(null);
  const handleDone = useRef(onDone);
  useEffect(() => {
    handleDone.current = onDone;
  }, [onDone]);
  const close = useCallback(() => {
    closeWindow.current?.();
    closeWindow.current = null;
    setState({ status: "off" });
  }, []);
  useEffect(
    () => () => {
      closeWindow.current?.();
    },
    [],
  );
  const open = () => {
    closeWindow.current?.();
    setState({ status: "open" });
    closeWindow.current = openCameraWindow({ use, language, theme }, resultSchema, {
      onDone: (result) => {
        setState({ status: "off" });
        handleDone.current(result);
      },
      onFailed: (failure) => {
        setState({ status: "failed", failure });
      },
      onCancel: () => {
        setState({ status: "off" });
      },
    });
  };
  return { state, open, close };
}
