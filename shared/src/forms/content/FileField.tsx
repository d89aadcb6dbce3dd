import { FileText, FileUp } from "lucide-react";
import { useId } from "react";
import { useDropzone } from "react-dropzone";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { usePortal } from "../../contract/portal.ts";
import { getFormats } from "../../i18n/index.ts";
import { Button } from "../../ui/Button.tsx";
import { PointerHint, SmallText, visuallyHidden } from "../../ui/layout.tsx";
import { media, s, space } from "../../ui/tokens.ts";
import { FieldError } from "../Field.tsx";

export interface FileFieldProps {
  /** Accessible name of the field, which says what the file is for. */
  readonly label: string;
  /** Shown while no file is chosen. */
  readonly placeholder: string;
  readonly hint: string;
  readonly value: File | null;
  readonly onChange: (file: File) => void;
  readonly error: string | null;
  readonly disabled: boolean;
}

/** Takes a file, from the file chooser or by drag and drop. */
export function FileField({ label, placeholder, hint, value, onChange, error, disabled }: FileFieldProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const titleId = useId();
  const handleDrop = (files: readonly File[]) => {
    const file = files[0];
    if (file !== undefined) onChange(file);
  };
  const { getRootProps, getInputProps, open, isDragActive } = useDropzone({
    onDrop: handleDrop,
    disabled,
    noClick: true,
    noKeyboard: true,
    multiple: false,
  });
  return (
    <Box role="group" aria-labelledby={titleId}>
      <Title id={titleId}>{t("file.title")}</Title>
      <DropZone {...getRootProps()} data-drag={isDragActive} data-chosen={value !== null}>
        <FileInput {...getInputProps({ "aria-label": label, style: {} })} />
        <Icon aria-hidden>{value === null ? <FileUp /> : <FileText />}</Icon>
        <Details>
          {value === null ? <span>{placeholder}</span> : <Name>{value.name}</Name>}
          {value === null && <PointerHint>{t("file.drop_hint")}</PointerHint>}
          <SmallText>{value === null ? hint : getFormats(language).size(value.size)}</SmallText>
          <Button tone={value === null ? "primary" : "quiet"} disabled={disabled} onClick={open}>
            {t(value === null ? "file.choose_action" : "file.another_action")}
          </Button>
        </Details>
      </DropZone>
      {error !== null && <FieldError>{error}</FieldError>}
    </Box>
  );
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  min-width: 0;
`;

const Title = styled.span`
  font-weight: 600;
`;

const DropZone = styled.div`
  position: relative;
  display: flex;
  align-items: center;
  gap: ${space(5)};
  min-height: 148px;
  padding: ${space(5)};
  border: 1.5px dashed ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
  &[data-drag="true"] {
    border-color: ${s("accent")};
    background: ${s("accentSoft")};
  }
  &[data-chosen="true"] {
    border-style: solid;
    border-color: ${s("border")};
  }
  ${media.mobile} {
    flex-direction: column;
    align-items: stretch;
    text-align: center;
    gap: ${space(3)};
  }
`;

const FileInput = styled.input`
  ${visuallyHidden}
`;

const Icon = styled.span`
  display: grid;
  place-items: center;
  flex: none;
  width: 64px;
  height: 64px;
  border-radius: 50%;
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg {
    width: 28px;
    height: 28px;
  }
  ${media.mobile} {
    align-self: center;
  }
`;

const Details = styled.div`
  display: flex;
  flex-direction: column;
  align-items: flex-start;
  gap: ${space(2)};
  min-width: 0;
  ${media.mobile} {
    align-items: center;
  }
`;

const Name = styled.strong`
  max-width: 100%;
  overflow-wrap: anywhere;
`;
