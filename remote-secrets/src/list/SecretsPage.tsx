import type { SecretRow, Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, EmptyState, Loading, Page, Skeleton, SmallText, SpacedRow, Stack, TextField } from "@relicario/shared/ui";
import { Lock, Plus, Search, ShieldPlus, Trash2 } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { useSecrets } from "../data/secrets.ts";
import { SecretsTrouble } from "./SecretsTrouble.tsx";
import { SecretList } from "./SecretList.tsx";
import { searchRows } from "./search.ts";
import { UnlockNotice } from "./UnlockNotice.tsx";

/** Everything that is kept: search, star, recover, and the trash. */
export default function SecretsPage() {
  const { t } = useTranslation("beta-home");
  const secrets = useSecrets();
  return (
    <Page
      width="wide"
      title={t("list.title")}
      actions={
        <>
          {secrets.status === "ready" && secrets.standing === "unlocked" && (
            <Button tone="quiet" icon={<Lock aria-hidden />} onClick={() => void secrets.vault.lock()}>
              {t("list.lock_action")}
            </Button>
          )}
          <ButtonLink to="/add-secret" icon={<Plus aria-hidden />}>
            {t("list.add_action")}
          </ButtonLink>
        </>
      }
    >
      {secrets.status === "loading" && <LoadingList />}
      {secrets.status === "failed" && <SecretsTrouble error={secrets.error} vault={secrets.vault} onRetry={secrets.retry} />}
      {secrets.status === "ready" && <LoadedList vault={secrets.vault} rows={secrets.rows} locked={secrets.standing === "locked"} />}
    </Page>
  );
}

interface LoadedListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly locked: boolean;
}

function LoadedList({ vault, rows, locked }: LoadedListProps) {
  const { t } = useTranslation("beta-home");
  const [typed, setTyped] = useState("");
  const [place, setPlace] = useState<"kept" | "trash">("kept");
  const search = useDeferredValue(typed);
  const kept = useMemo(() => rows.filter((row) => row.deletedAt === null), [rows]);
  const trashed = useMemo(() => rows.filter((row) => row.deletedAt !== null), [rows]);
  const here = place === "kept" ? kept : trashed;
  const found = useMemo(() => searchRows(here, search), [here, search]);

  if (rows.length === 0) {
    return (
      <EmptyState
        icon={<ShieldPlus />}
        title={t("list.empty_title")}
        actions={
          <>
            <ButtonLink to="/add-secret">{t("list.first_action")}</ButtonLink>
            <ButtonLink to="/welcome-backup" tone="quiet">
              {t("list.how_action")}
            </ButtonLink>
          </>
        }
      >
        <p>{t("list.empty_body")}</p>
      </EmptyState>
    );
  }
  return (
    <Stack $gap={5}>
      {locked && <UnlockNotice then="/secrets" />}
      {!locked && (
        <div role="search" data-tour="secrets-search">
          <TextField
            type="search"
            label={t("list.search_label")}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
            }}
          />
        </div>
      )}
      <SpacedRow $justify="between">
        <SmallText role="status" data-tour="secrets-total">
          {search.trim() === "" ? t(place === "kept" ? "list.total_status" : "list.trash_status", { count: here.length }) : t("list.found_status", { count: found.length, total: here.length })}
        </SmallText>
        {(trashed.length > 0 || place === "trash") && (
          <Button
            tone="quiet"
            size="small"
            icon={place === "kept" ? <Trash2 aria-hidden /> : undefined}
            onClick={() => {
              setPlace(place === "kept" ? "trash" : "kept");
            }}
          >
            {place === "kept" ? t("list.trash_action", { count: trashed.length }) : t("list.kept_action")}
          </Button>
        )}
      </SpacedRow>
      {found.length > 0 ? (
        <SecretList key={place} vault={vault} rows={found} label={t(place === "kept" ? "list.title" : "list.trash_title")} />
      ) : search.trim() === "" ? (
        <EmptyState icon={<Trash2 />} title={t(place === "kept" ? "list.all_trashed_title" : "list.trash_empty_title")} />
      ) : (
        <EmptyState icon={<Search />} title={t("list.none_found_title")}>
          <p>{t("list.none_found_body")}</p>
        </EmptyState>
      )}
      {place === "trash" && trashed.length > 0 && <SmallText>{t("list.trash_hint")}</SmallText>}
    </Stack>
  );
}

function LoadingList() {
  const { t } = useTranslation("beta-home");
  return (
    <Loading label={t("list.loading_status")}>
      <Stack $gap={3}>
        {[0, 1, 2, 3].map((each) => (
          <Skeleton key={each} height="78px" />
        ))}
      </Stack>
    </Loading>
  );
}
