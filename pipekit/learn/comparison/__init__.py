"""The comparison panel: schedules side by side, predicted and measured, at the same total work."""
