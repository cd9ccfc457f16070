"""What a council, an ethics board or an auditor is handed: an annex made from the terms, records, and a bundle to check."""
