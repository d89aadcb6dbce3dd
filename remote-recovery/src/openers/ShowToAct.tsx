import type { CallOptions, ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { ActProgress, FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, SpacedRow, Stack, useShownImage } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface ShowToActProps<Result> {
  readonly vault: Vault;
  readonly label: string;
  readonly danger?: boolean;
  /** Only a picture will do. */
  readonly pictureOnly?: boolean;
  /** The act took what is shown: whoever has it forgets it. The next one is asked for. */
  readonly keep?: boolean;
  readonly act: (shown: ShownImage, options: CallOptions) => Promise<Result>;
  /** With what the act gave. */
  readonly onDone: (result: Result) => void;
  readonly onCancel: () => void;
}

type Acting =
  | { readonly status: "asking"; readonly error: unknown }
  | { readonly status: "running"; readonly progress: VaultProgress | null };

/**
 * Asks for something that opens the account, and acts with it. Leaving the screen, or "cancel",
 * stops the act where it is.
 */
export function ShowToAct<Result>({
  vault,
  label,
  danger = false,
  pictureOnly = false,
  keep = false,
  act,
  onDone,
  onCancel,
}: ShowToActProps<Result>) {
  const { t } = useTranslation("openers");
  const client = useQueryClient();
  const { shown, setShown, handOver } = useShownImage(vault);
  const [missing, setMissing] = useState(false);
  const [acting, setActing] = useState<Acting>({ status: "asking", error: null });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (image: ShownImage): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setActing({ status: "running", progress: null });
    try {
      const result = await act(image, {
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) setActing({ status: "running", progress });
        },
      });
      if (own.signal.aborted) return;
      if (keep) {
        handOver(image);
        setShown(null);
        setActing({ status: "asking", error: null });
      }
      onDone(result);
    } catch (error) {
      if (!own.signal.aborted) setActing({ status: "asking", error });
    } finally {
      void client.invalidateQueries(); // it re-sealed rows that other screens show, some of them also when it failed
    }
  };
  const busy = acting.status === "running";
  return (
    <Stack $gap={4}>
      <vault.PictureField
        purpose="show"
        pictureOnly={pictureOnly}
        value={shown}
        disabled={busy}
        onChange={(next) => {
          setShown(next);
          setMissing(false);
        }}
      />
      {missing && <FieldError>{t(pictureOnly ? "show.no_picture_error" : "show.missing_error")}</FieldError>}
      {acting.status === "asking" && <ErrorNotice error={acting.error} />}
      {busy && <ActProgress progress={acting.progress} first="fetching" />}
      <SpacedRow>
        <Button
          tone={danger ? "danger" : "primary"}
          pending={busy}
          onClick={() => {
            setMissing(shown === null);
            if (shown !== null) void run(shown);
          }}
        >
          {label}
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            running.current?.abort();
            onCancel();
          }}
        >
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
