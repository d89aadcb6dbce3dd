import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { isDay, maxRecordFields, maxRecordLabelLength, recordFieldKinds, type RecordField } from "../../api/index.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { SmallText, SpacedRow, Stack } from "../../ui/layout.tsx";
import { media, s, space } from "../../ui/tokens.ts";
import { FieldError } from "../Field.tsx";
import { PasswordField, SecretTextArea, TextArea, TextField } from "../inputs.tsx";
import { SelectField } from "../SelectField.tsx";
import { createDraftField, findFieldProblem, type RecordDraftField } from "./record-draft.ts";

export interface RecordEditorProps {
  readonly value: readonly RecordDraftField[];
  readonly onChange: (value: readonly RecordDraftField[]) => void;
  /** With an error, each field shows its own error too. */
  readonly error: string | null;
  readonly disabled: boolean;
}

/** Edits the fields of a record. An empty record gets the fields of a login, to fill in. */
export function RecordEditor({ value, onChange, error, disabled }: RecordEditorProps) {
  const { t } = useTranslation("common");
  const addButtonRef = useRef<HTMLButtonElement>(null);
  const [addedId, setAddedId] = useState<string | null>(null);
  const [loginFields] = useState(() => [
    createDraftField({ label: t("record.username_label"), value: "", kind: "text" }),
    createDraftField({ label: t("record.password_label"), value: "", kind: "secret" }),
    createDraftField({ label: t("record.address_label"), value: "", kind: "address" }),
  ]);
  const fields = value.length === 0 ? loginFields : value;

  const move = (from: number, to: number) => {
    const field = fields[from];
    if (field !== undefined) onChange(fields.toSpliced(from, 1).toSpliced(to, 0, field));
  };
  const handleAdd = () => {
    const field = createDraftField({ label: "", value: "", kind: "text" });
    setAddedId(field.id);
    onChange([...fields, field]);
  };
  return (
    <Stack $gap={4} role="group" aria-label={t("record.editor_aria")}>
      <SmallText>{t("record.editor_hint")}</SmallText>
      {fields.map((field, index) => (
        <FieldBox key={field.id} disabled={disabled}>
          <legend>{t("record.field_title", { number: index + 1 })}</legend>
          <EditedField
            field={field}
            isAdded={field.id === addedId}
            showsProblem={error !== null}
            onChange={(changes) => {
              onChange(fields.with(index, { ...field, ...changes }));
            }}
          />
          <SpacedRow $gap={1} $justify="end">
            <IconButton
              label={t("record.up_action", { number: index + 1 })}
              icon={<ArrowUp aria-hidden />}
              disabled={index === 0}
              onClick={() => {
                move(index, index - 1);
              }}
            />
            <IconButton
              label={t("record.down_action", { number: index + 1 })}
              icon={<ArrowDown aria-hidden />}
              disabled={index === fields.length - 1}
              onClick={() => {
                move(index, index + 1);
              }}
            />
            <IconButton
              label={t("record.remove_action", { number: index + 1 })}
              icon={<Trash2 aria-hidden />}
              onClick={() => {
                onChange(fields.toSpliced(index, 1));
                addButtonRef.current?.focus(); // the pressed button no longer exists
              }}
            />
          </SpacedRow>
        </FieldBox>
      ))}
      <SpacedRow>
        <Button
          ref={addButtonRef}
          tone="quiet"
          icon={<Plus aria-hidden />}
          disabled={disabled || fields.length >= maxRecordFields}
          onClick={handleAdd}
        >
          {t("record.add_action")}
        </Button>
      </SpacedRow>
      {error !== null && <FieldError>{error}</FieldError>}
    </Stack>
  );
}

interface EditedFieldProps {
  readonly field: RecordDraftField;
  readonly isAdded: boolean;
  readonly showsProblem: boolean;
  readonly onChange: (changes: Partial<RecordField>) => void;
}

function EditedField({ field, isAdded, showsProblem, onChange }: EditedFieldProps) {
  const { t } = useTranslation("common");
  const labelRef = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isAdded) labelRef.current?.focus();
  }, [isAdded]);
  const problem = showsProblem ? findFieldProblem(field) : null;
  const problemText = problem === null ? null : t(`record.${problem}_error`);
  const isLabelProblem = problem === "label_missing" || problem === "label_broken";
  return (
    <>
      <NameRow>
        <TextField
          ref={labelRef}
          label={t("record.label_label")}
          error={isLabelProblem ? problemText : null}
          maxLength={maxRecordLabelLength}
          autoComplete="off"
          value={field.label}
          onChange={(event) => {
            onChange({ label: event.target.value });
          }}
        />
        <SelectField
          label={t("record.kind_label")}
          value={field.kind}
          choices={recordFieldKinds.map((kind) => ({ value: kind, label: t(`record.kind_${kind}_label`) }))}
          onChange={(value) => {
            onChange({ kind: recordFieldKinds.find((kind) => kind === value) ?? "text" });
          }}
        />
      </NameRow>
      <ValueField key={field.kind} field={field} error={isLabelProblem ? null : problemText} onChange={onChange} />
    </>
  );
}

interface ValueFieldProps {
  readonly field: RecordDraftField;
  readonly error: string | null;
  readonly onChange: (changes: Partial<RecordField>) => void;
}

/**
 * An input drops line ends, so a value with line ends gets a text area. The field is mounted again
 * for each kind. It is never mounted again while a person types, because that would lose the focus.
 */
function ValueField({ field: { value, kind }, error, onChange }: ValueFieldProps) {
  const { t } = useTranslation("common");
  const [hasLines] = useState(() => /[\r\n]/.test(value));
  const control = {
    label: t("record.value_label"),
    error,
    value,
    autoComplete: "off",
    spellCheck: false,
    onChange: (event: { readonly target: { readonly value: string } }) => {
      onChange({ value: event.target.value });
    },
  };
  if (kind === "note") return <TextArea {...control} rows={3} spellCheck />;
  if (hasLines) return <SecretTextArea {...control} rows={3} />;
  switch (kind) {
    case "secret":
      return <PasswordField {...control} />;
    case "one_time_code":
      return <PasswordField {...control} hint={t("record.code_hint")} />;
    case "date":
      // a date input would hide any other text
      return <TextField {...control} type={value === "" || isDay(value) ? "date" : "text"} />;
    case "address":
      return <TextField {...control} inputMode="url" autoCapitalize="none" />;
    case "text":
      return <TextField {...control} autoCapitalize="none" />;
    default:
      return kind satisfies never;
  }
}

const FieldBox = styled.fieldset`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  min-width: 0;
  padding: ${space(3)} ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  & > legend {
    padding-inline: ${space(1)};
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
    font-weight: 600;
  }
`;

const NameRow = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
  align-items: start;
  gap: ${space(3)};
  ${media.mobile} {
    grid-template-columns: minmax(0, 1fr);
  }
`;
