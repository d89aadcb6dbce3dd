import type { SecretRow, Vault } from "@relicario/shared/contract";
import { ErrorNotice, space, Stack } from "@relicario/shared/ui";
import { styled } from "styled-components";

import { SecretRowCard } from "../row/SecretRowCard.tsx";
import { useRowActions } from "../row/useRowActions.ts";

interface SecretListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  /** What these rows are. */
  readonly label: string;
}

const selectsNothing = () => undefined;

/** A few rows, all of them drawn. */
export function SecretList({ vault, rows, label }: SecretListProps) {
  const actions = useRowActions(vault, selectsNothing, null);
  return (
    <Stack $gap={4}>
      <ErrorNotice error={actions.error} />
      <Rows aria-label={label}>
        {rows.map((row) => (
          <li key={row.secretId}>
            <SecretRowCard row={row} actions={actions.forRow} selected={null} />
          </li>
        ))}
      </Rows>
    </Stack>
  );
}

const Rows = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;
