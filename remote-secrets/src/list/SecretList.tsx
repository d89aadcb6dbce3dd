import type { SecretRow, Vault } from "@relicario/shared/contract";
import { Button, ErrorNotice, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import styled from "styled-components";

import { useRestore, useSetFavorite, useTrash } from "../data/row-actions.ts";
import { SecretRowCard } from "./SecretRowCard.tsx";
import { useTrashConfirmed } from "./useTrashConfirmed.ts";

interface SecretListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  /** What these rows are. */
  readonly label: string;
}

/** Rows drawn at a time: more come when they are asked for. */
const stepOfRows = 100;

export function SecretList({ vault, rows, label }: SecretListProps) {
  const { t } = useTranslation("beta-home");
  const [shown, setShown] = useState(stepOfRows);
  const favorite = useSetFavorite(vault);
  const trash = useTrash(vault);
  const restore = useRestore(vault);
  const confirmTrash = useTrashConfirmed(trash.mutateAsync);
  const failure = favorite.error ?? trash.error ?? restore.error;

  return (
    <Stack $gap={4}>
      <ErrorNotice error={failure} />
      <Rows aria-label={label}>
        {rows.slice(0, shown).map((row) => (
          <SecretRowCard
            key={row.secretId}
            row={row}
            onFavorite={(wanted) => {
              favorite.mutate({ secretId: row.secretId, favorite: wanted });
            }}
            onTrash={() => void confirmTrash(row)}
            onRestore={() => {
              restore.mutate(row.secretId);
            }}
          />
        ))}
      </Rows>
      {rows.length > shown && (
        <SpacedRow>
          <Button
            tone="quiet"
            onClick={() => {
              setShown(shown + stepOfRows);
            }}
          >
            {t("list.more_action")}
          </Button>
        </SpacedRow>
      )}
    </Stack>
  );
}

const Rows = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;
