import type { OpenersOverview, RotatedAccount, ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { ActProgress, Checkbox } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Notice,
  SectionTitle,
  SpacedRow,
  Stack,
  useForgetting,
} from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { LosingSecrets } from "./LosingSecrets.tsx";
import { ShowToAct } from "./ShowToAct.tsx";

interface LostDeviceProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** What is shown now, and which opener it is. */
interface Kept {
  readonly openerId: string;
  readonly shown: ShownImage;
}

type Acting =
  | { readonly status: "asking"; readonly error: unknown }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "done"; readonly rotated: RotatedAccount };

/**
 * A new account key after a device was lost: what it means, the openers that stay shown one after
 * the other, and what became of it.
 */
export function LostDevice({ vault, overview, onDone, onCancel }: LostDeviceProps) {
  const { t } = useTranslation("openers");
  const [begun, setBegun] = useState(false);
  const [kept, setKept] = useState<readonly Kept[]>([]);
  const [twice, setTwice] = useState<string | null>(null);
  const [agreed, setAgreed] = useState(false);
  const [acting, setActing] = useState<Acting>({ status: "asking", error: null });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const nameOf = (openerId: string): string => overview.openers.find(({ id }) => id === openerId)?.name ?? "";
  const isKept = (openerId: string): boolean => kept.some((one) => one.openerId === openerId);
  const going = overview.openers.filter(({ id }) => !isKept(id));
  const hasPicture = overview.openers.some(({ id, kind }) => kind === "image" && isKept(id));
  const losing = overview.secrets.filter(({ openers }) => openers.length > 0 && !openers.some(isKept));
  const busy = acting.status === "running";

  const handleShown = ({ openerId, shown }: Kept): void => {
    setAgreed(false);
    setTwice(isKept(openerId) ? openerId : null);
    if (isKept(openerId)) vault.forgetShown(shown);
    else setKept([...kept, { openerId, shown }]);
  };
  const client = useQueryClient();
  const rotate = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setActing({ status: "running", progress: null });
    const tell = (next: Acting): void => {
      if (!own.signal.aborted) setActing(next);
    };
    try {
      const options = {
        signal: own.signal,
        losing: losing.map(({ secretId }) => secretId),
        onProgress: (progress: VaultProgress) => {
          tell({ status: "running", progress });
        },
      };
      tell({
        status: "done",
        rotated: await vault.openers.rotate(
          kept.map(({ shown }) => shown),
          options,
        ),
      });
    } catch (error) {
      tell({ status: "asking", error });
    } finally {
      void client.invalidateQueries(); // it re-sealed rows that other screens show
    }
  };
  const handleCancel = (): void => {
    running.current?.abort();
    onCancel();
  };

  if (acting.status === "done") {
    const { removed, revoked } = acting.rotated;
    return (
      <div ref={takeFocus} tabIndex={-1}>
        <Notice
          tone="success"
          role="status"
          title={t("lost.done_title")}
          actions={
            <Button size="small" onClick={onDone}>
              {t("lost.end_action")}
            </Button>
          }
        >
          <p>{t("lost.done_body")}</p>
          {removed.length > 0 && <p>{t("lost.removed_body", { names: removed.map(nameOf).join(", ") })}</p>}
          {revoked.length > 0 && <p>{t("lost.revoked_body", { titles: revoked.join(", ") })}</p>}
        </Notice>
      </div>
    );
  }
  return (
    <Card aria-labelledby="openers-lost">
      <Stack $gap={4}>
        <SectionTitle ref={takeFocus} tabIndex={-1} id="openers-lost">
          {t("lost.title")}
        </SectionTitle>
        <Muted>{t("lost.meaning_body")}</Muted>
        <Muted>{t("lost.ways_body")}</Muted>
        <Muted>{t("lost.copies_body")}</Muted>
        <Muted>{t("lost.people_body")}</Muted>
        {!begun && (
          <SpacedRow>
            <Button
              onClick={() => {
                setBegun(true);
              }}
            >
              {t("lost.begin_action")}
            </Button>
            <Button tone="quiet" onClick={onCancel}>
              {t("show.cancel_action")}
            </Button>
          </SpacedRow>
        )}
        {begun && kept.length > 0 && (
          <ul aria-label={t("lost.kept_aria")}>
            {kept.map((one) => (
              <KeptRow key={one.openerId} vault={vault} shown={one.shown} name={nameOf(one.openerId)} />
            ))}
          </ul>
        )}
        {begun && (
          <Muted key={going.length === 0 ? "all" : "some"} ref={takeFocus} tabIndex={-1} role="status">
            {going.length === 0
              ? t("lost.all_body")
              : t("lost.going_body", { names: going.map(({ name }) => name).join(", ") })}
          </Muted>
        )}
        {twice !== null && (
          <Notice tone="warn" role="status">
            {t("lost.twice_body", { name: nameOf(twice) })}
          </Notice>
        )}
        {begun && !busy && going.length > 0 && (
          <ShowToAct
            vault={vault}
            keep
            label={t("lost.show_action")}
            act={async (shown, options) => ({ shown, ...(await vault.openers.recognise(shown, options)) })}
            onDone={handleShown}
            onCancel={handleCancel}
          />
        )}
        {begun && kept.length > 0 && !hasPicture && (
          <Notice tone="warn" role="status">
            {t("lost.picture_body")}
          </Notice>
        )}
        {hasPicture && <LosingSecrets secrets={losing} />}
        {hasPicture && losing.length > 0 && (
          <Checkbox
            label={t("remove.losing_label", { count: losing.length })}
            checked={agreed}
            onChange={(event) => {
              setAgreed(event.target.checked);
            }}
          />
        )}
        {acting.status === "asking" && <ErrorNotice error={acting.error} />}
        {busy && <ActProgress progress={acting.progress} first="fetching" />}
        {hasPicture && (losing.length === 0 || agreed) && (
          <SpacedRow>
            <Button tone="danger" pending={busy} onClick={() => void rotate()}>
              {t("lost.rotate_action")}
            </Button>
            {(busy || going.length === 0) && (
              <Button tone="quiet" onClick={handleCancel}>
                {t("show.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}

/** Its handle is forgotten when the screen goes. */
function KeptRow({ vault, shown, name }: { readonly vault: Vault; readonly shown: ShownImage; readonly name: string }) {
  const { t } = useTranslation("openers");
  useForgetting(vault, shown);
  return <li>{t("lost.kept_body", { name })}</li>;
}
